import BledCore
import FoundationEssentials
import Glibc
import Testing

/// The paths of the daemon's socket, and the ones that it refuses.
@Suite final class ListeningSocketTests {
  private let path: String

  init() throws {
    var template = Array("/tmp/bled-socket-XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private func listen(_ place: String) throws(SocketError) {
    let socket = try ListeningSocket(path: "\(path)/\(place)", mode: 0o600, group: nil)
    socket.removeFile()
    close(socket.descriptor)
  }

  @Test func aDirectoryThatOthersMayWriteIsRefused() throws {
    try listen("new/bled.sock")
    for mode in [0o777, 0o1777, 0o702] as [mode_t] {
      #expect(chmod("\(path)/new", mode) == 0)
      let error = try #require(throws: SocketError.self) { try listen("new/bled.sock") }
      #expect(error.description.contains("other users may write to \(path)/new"), "\(error)")
      #expect(error.description.contains("--socket"), "\(error)")
      #expect(access("\(path)/new/bled.sock", F_OK) != 0)
    }
    let error = try #require(throws: SocketError.self) {
      try ListeningSocket(path: "/tmp/bled-test-\(getpid()).sock", mode: 0o600, group: nil)
    }
    #expect(error.description.contains("other users may write to /tmp"), "\(error)")
  }

  @Test func aRelativePathStartsAtTheWorkingDirectory() throws {
    let error = try #require(throws: SocketError.self) {
      try ListeningSocket(path: "none/deep/bled.sock", mode: 0o600, group: nil)
    }
    #expect(error.description.contains("No such file"), "\(error)")
  }
}
