import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import bleshell

/// The connection that commands share.
@MainActor @Suite struct ShellTests {
  @Test("A caller that is cancelled takes the attempt to connect from no other one")
  func shared() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "bleshell-\(UInt64.random(in: 0 ... .max))").path
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    defer {
      close(listener)
      unlink(path)
    }
    let bound = withUnsafeBytes(of: address) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { bind(listener, $0.baseAddress, socklen_t(octets.count)) }
    }
    // Nobody is answered.
    try #require(bound == 0 && listen(listener, 4) == 0)
    let shell = Shell(
      output: Output(json: false), socket: path, language: CommandLanguage(root: Bleshell.self), isLineMode: false)
    let first = Task { try await shell.connection() }
    let second = Task { try await shell.connection() }
    let attempt = await onThread { Patience.wait(for: listener) ? accept(listener, nil, nil) : -1 }
    try #require(attempt >= 0)
    first.cancel()
    await #expect(throws: (any Error).self) { try await first.value }
    let isTriedAgain = await onThread { Patience.wait(for: listener) }
    #expect(isTriedAgain)
    second.cancel()
    _ = await second.result
    close(attempt)
  }
}
