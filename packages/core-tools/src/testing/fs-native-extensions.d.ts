declare module 'fs-native-extensions' {
  const native: { readonly tryLock: (fd: number) => boolean };
  export default native;
}
