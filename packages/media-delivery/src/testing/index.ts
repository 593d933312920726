// Files for the tests of everyone who handles media; no test runner is needed.
export {
  asfSample,
  aviSample,
  flvSample,
  isoSample,
  matroskaSample,
  mpegSample,
  mpegVideoSample,
} from './film-samples.ts';
export {
  gifSample,
  jpegSample,
  pngClaim,
  pngSample,
  webpAnimatedSample,
  webpClaim,
  webpExtendedSample,
  webpLosslessSample,
  webpSample,
} from './image-samples.ts';
export { largeMediaSamples } from './large-samples.ts';
export { pdfSample } from './pdf-samples.ts';
export { foreignSamples, mediaSamples } from './samples.ts';
export type { MediaSample } from './samples.ts';
export { flacSample, mp3Sample, oggSample, wavSample } from './sound-samples.ts';
