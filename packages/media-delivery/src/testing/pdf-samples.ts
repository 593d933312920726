import { deflateSync } from 'node:zlib';
import { be, join, type Part } from './byte-parts.ts';

export interface PdfSampleOptions {
  readonly pages?: number;
  /** Where objects are listed: a table, a stream (with the pages inside an object stream), or a table with an update. */
  readonly xref?: 'table' | 'stream' | 'updated';
  readonly isEncrypted?: boolean;
  /** Bytes of a stream that no page shows, to make the file as large as wanted. */
  readonly filler?: Uint8Array;
}

const HEADER = '%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n';

/** Object 1 is the catalog, 2 the page tree, 3 the content that all pages share, 4 the filler, 5 and on the pages. */
export function pdfSample(options: PdfSampleOptions = {}): Uint8Array {
  const { pages = 1, xref = 'table', filler = new Uint8Array() } = options;
  const kids = Array.from({ length: pages }, (_none, index) => `${index + 5} 0 R`).join(' ');
  const plain = new Map<number, string>([
    [1, '<< /Type /Catalog /Pages 2 0 R >>'],
    [2, `<< /Type /Pages /Count ${pages} /Kids [${kids}] >>`],
  ]);
  for (let page = 0; page < pages; page += 1) {
    plain.set(page + 5, '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R >>');
  }
  const streams = new Map<number, Uint8Array>([
    [3, stream('', '0 0 m 9 9 l S')],
    [4, stream('', filler)],
  ]);
  return xref === 'stream' ? withStream(plain, streams) : withTable(plain, streams, options);
}

const stream = (entries: string, data: Part): Uint8Array =>
  join(`<< /Length ${data.length} ${entries} >>\nstream\n`, data, '\nendstream');

/** Writes objects one after the other and remembers where. */
function written(objects: Iterable<readonly [number, Part]>): {
  readonly body: Uint8Array;
  readonly offsets: ReadonlyMap<number, number>;
} {
  const parts: Uint8Array[] = [join(HEADER)];
  const offsets = new Map<number, number>();
  let at = parts[0]?.length ?? 0;
  for (const [number, content] of objects) {
    const part = join(`${number} 0 obj\n`, content, '\nendobj\n');
    offsets.set(number, at);
    parts.push(part);
    at += part.length;
  }
  return { body: join(...parts), offsets };
}

const tableLine = (offset: number): string => `${String(offset).padStart(10, '0')} 00000 n \n`;

function withTable(
  plain: ReadonlyMap<number, string>,
  streams: ReadonlyMap<number, Uint8Array>,
  { isEncrypted = false, xref }: PdfSampleOptions,
): Uint8Array {
  const { body, offsets } = written([...plain, ...streams]);
  const size = offsets.size + 1;
  const lines = Array.from({ length: offsets.size }, (_none, index) =>
    tableLine(offsets.get(index + 1) ?? 0),
  );
  const encrypt = isEncrypted ? '/Encrypt 3 0 R ' : '';
  const trailer = `/Size ${size} /Root 1 0 R ${encrypt}`;
  const first = join(
    body,
    `xref\n0 ${size}\n0000000000 65535 f \n${lines.join('')}trailer\n<< ${trailer}>>\nstartxref\n${body.length}\n%%EOF`,
  );
  if (xref !== 'updated') return first;
  const update = join(first, '\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R /Lang (en) >>\nendobj\n');
  return join(
    update,
    `xref\n1 1\n${tableLine(first.length + 1)}trailer\n<< ${trailer}/Prev ${body.length} >>\nstartxref\n${update.length}\n%%EOF`,
  );
}

function withStream(
  plain: ReadonlyMap<number, string>,
  streams: ReadonlyMap<number, Uint8Array>,
): Uint8Array {
  const holder = plain.size + streams.size + 1;
  const entries = [...plain];
  let at = 0;
  const index = entries.map(([number, text]) => {
    const place = `${number} ${at}`;
    at += text.length + 1;
    return place;
  });
  const head = `${index.join(' ')} `;
  const packed = deflateSync(join(head, entries.map(([, text]) => text).join(' ')));
  const packedStream = stream(
    `/Type /ObjStm /N ${entries.length} /First ${head.length} /Filter /FlateDecode`,
    packed,
  );
  const { body, offsets } = written([...streams, [holder, packedStream]]);
  const size = holder + 2;
  const rows = Array.from({ length: size }, (_none, number) => {
    const place = entries.findIndex(([packedNumber]) => packedNumber === number);
    if (place >= 0) return join(be(2, 1), be(holder, 4), be(place, 2));
    const offset = number === holder + 1 ? body.length : offsets.get(number);
    return join(be(offset === undefined ? 0 : 1, 1), be(offset ?? 0, 4), zerosOf(offset));
  });
  // The predictor that every writer uses: each row as its difference to the row above.
  const filtered = rows.flatMap((row, number) => [
    be(2, 1),
    row.map((byte, column) => byte - (rows[number - 1]?.[column] ?? 0)),
  ]);
  const xref = stream(
    `/Type /XRef /Size ${size} /W [1 4 2] /Root 1 0 R /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 7 >>`,
    deflateSync(join(...filtered)),
  );
  return join(body, `${holder + 1} 0 obj\n`, xref, `\nendobj\nstartxref\n${body.length}\n%%EOF`);
}

const zerosOf = (offset: number | undefined): Uint8Array => be(offset === undefined ? 65_535 : 0, 2);
