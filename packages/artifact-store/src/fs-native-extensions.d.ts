declare module 'fs-native-extensions' {
  const native: {
    readonly tryLock: (fd: number, options: { readonly shared: boolean }) => boolean;
  };
  export default native;
}
