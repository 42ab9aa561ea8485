import BledConnection
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import BledWeb

/// The addresses of servers.
@Suite struct ListenerTests {
  /// True if the machine has the address ::1.
  private static let hasVersion6 = (try? ListenAddress(argument: "[::1]:0")?.listen()) != nil

  /// A folder of its own, removed with its last reference.
  private final class Folder {
    let path: String

    init() throws {
      path = FileManager.default.temporaryDirectory.appending(path: "web-\(UUID().uuidString.prefix(8))").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  @Test(
    "Only 127.0.0.0/8, ::1 and Unix sockets are of this machine",
    arguments: [
      ("127.0.0.1:1", true), ("127.1.2.3:1", true), ("[::1]:1", true), ("unix:/a", true), ("0.0.0.0:1", false),
      ("192.0.2.1:1", false), ("128.0.0.1:1", false), ("[::]:1", false), ("[::2]:1", false), ("[100::1]:1", false),
    ])
  func local(text: String, isLocal: Bool) throws {
    #expect(try #require(ListenAddress(argument: text)).isLocal == isLocal)
  }

  @Test("An address of a Unix socket has a path", arguments: ["unix:", "unix", "unix:a\0b"])
  func noPath(text: String) { #expect(ListenAddress(argument: text) == nil) }

  @Test("A Unix socket is served; its file goes with it")
  @MainActor func file() async throws {
    let folder = try Folder()
    let path = "\(folder.path)/page.sock"
    do {
      let listener = try #require(ListenAddress(argument: "unix:\(path)")).listen()
      #expect(listener.name == "unix:\(path)" && listener.url == "http://unix:\(path):" && listener.host == nil)
      #expect(try await answer(of: listener, on: .file(path)).hasPrefix("HTTP/1.1 204 "))
    }
    // The sources of Dispatch give back the listener on their queue.
    #expect(await onThread { Patience.wait { access(path, F_OK) != 0 } })
  }

  @Test("The file of a process that was killed is replaced; one that is in use, or not a socket, stays")
  func leftOver() throws {
    let folder = try Folder()
    let address = try #require(ListenAddress(argument: "unix:\(folder.path)/page.sock"))
    let first = try address.listen()
    #expect(throws: ListenError.self) { _ = try address.listen() }
    // Closed as by the kernel.
    shutdown(first.descriptor, CInt(SHUT_RDWR))
    let second = try address.listen()
    try withExtendedLifetime((first, second)) { _ = try ServerConnection(path: "\(folder.path)/page.sock") }
    let path = "\(folder.path)/file"
    try Data("a".utf8).write(to: URL(filePath: path))
    #expect(throws: ListenError.self) { _ = try #require(ListenAddress(argument: "unix:\(path)")).listen() }
    #expect(access(path, F_OK) == 0)
    let long = try #require(ListenAddress(argument: "unix:/\(String(repeating: "a", count: 200))"))
    #expect(throws: ListenError.self) { _ = try long.listen() }
  }

  @Test("Many connections may wait to be accepted: a process that floods the socket keeps nobody waiting for seconds")
  func backlog() throws {
    let folder = try Folder()
    let path = "\(folder.path)/page.sock"
    let listener = try #require(ListenAddress(argument: "unix:\(path)")).listen()
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    for number in 0..<200 {
      // Without waiting, the system says at once that there is no room (unix(7)).
      let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      defer { close(descriptor) }
      let result = withUnsafeBytes(of: address) { octets in
        octets.withMemoryRebound(to: sockaddr.self) {
          connect(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(result == 0, "connection \(number): \(errno)")
    }
    withExtendedLifetime(listener) {}
  }

  @Test("A port of ::1 is served", .enabled(if: hasVersion6))
  @MainActor func version6() async throws {
    let listener = try #require(ListenAddress(argument: "[::1]:0")).listen()
    let port = try #require(listener.port)
    #expect(listener.host == "[::1]:\(port)" && listener.url == "http://[::1]:\(port)")
    #expect(try await answer(of: listener, on: .version6(port)).hasPrefix("HTTP/1.1 204 "))
  }

  private enum Place: Sendable {
    case file(String)
    case version6(UInt16)
  }

  @MainActor private func answer(of listener: Listener, on place: Place) async throws -> String {
    let server = HTTPServer(listener, limit: 1) { _ in HTTPAnswer(204, "No Content", text: "") }
    defer { server.close() }
    return try await onThread {
      Result {
        let connection =
          switch place {
          case .file(let path): try ServerConnection(path: path)
          case .version6(let port): try ServerConnection(version6: port)
          }
        try connection.send("GET / HTTP/1.1\r\n\r\n")
        return try connection.readAnswer()
      }
    }.get()
  }
}
