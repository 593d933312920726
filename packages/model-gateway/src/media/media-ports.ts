import {
  unreachable,
  type Attachment,
  type BlobReader,
  type MediaPlacer,
  type ModelMessage,
  type PlacedMessage,
} from '@agentd/contract';

/** What requests with files need. */
export interface MediaPorts {
  /** Says where files go. */
  readonly placer: MediaPlacer;
  /** Has their bytes. */
  readonly blobs: BlobReader;
}

/** For whoever keeps no files: each is named, and none is sent. */
export const withoutMedia: MediaPorts = {
  placer: { place: (messages) => messages.map(named) },
  blobs: { blob: () => Promise.reject(new Error('no files are kept here')) },
};

function named(message: ModelMessage): PlacedMessage {
  switch (message.role) {
    case 'assistant':
      return message;
    case 'user':
      return { role: 'user', content: [...message.content, ...notes(message.attachments)] };
    case 'tool': {
      const content = message.content.map(({ attachments, ...result }) => ({
        ...result,
        media: notes(attachments),
      }));
      return { role: 'tool', content };
    }
    default:
      return unreachable(message);
  }
}

function notes(files: readonly Attachment[] = []): { readonly type: 'text'; readonly text: string }[] {
  return files.map(({ filename, mime_type, byte_length }) => ({
    type: 'text',
    text: `[${JSON.stringify(filename ?? 'a file')} (${mime_type}, ${byte_length} bytes) is not sent]`,
  }));
}
