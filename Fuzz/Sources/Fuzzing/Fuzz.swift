import CLibFuzzer

#if canImport(Glibc)
  import Glibc
#endif

/// The function called with each input. libFuzzer takes a C function, which cannot carry it.
private nonisolated(unsafe) var target: ([UInt8]) -> Void = { _ in }

/// Hands the process to libFuzzer, which calls `body` with one input after the other until its time is up, or with
/// those that are named on the command line. Never returns.
public func fuzz(_ body: @escaping ([UInt8]) -> Void) -> Never {
  target = body
  var count = CommandLine.argc
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
  exit(
    LLVMFuzzerRunDriver(&count, &arguments) { octets, count in
      target([UInt8](UnsafeBufferPointer(start: octets, count: count)))
      return 0
    })
}

/// A condition that must hold for every input. Where it does not, the process ends and libFuzzer keeps the input.
public func invariant(
  _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !condition() { fatalError(message(), file: file, line: line) }
}
