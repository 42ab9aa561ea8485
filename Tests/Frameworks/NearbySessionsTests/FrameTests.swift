import Bluetooth
import Testing

@testable import NearbySessions

/// Frames on the wire.
@Suite struct FrameTests {
  private static let frames = [
    Frame(kind: .message, payload: Array("Hello".utf8)), Frame(kind: .data, flow: 0x0102_0304, payload: [1, 2, 3]),
    Frame(kind: .close, flow: 7, payload: [0]), Frame(kind: .message),
  ]

  @Test("the octets of a frame")
  func octets() {
    #expect(Self.frames[1].encoded == [11, 1, 2, 3, 4, 0, 0, 3, 1, 2, 3])
    let long = Frame(kind: .message, payload: Array(repeating: 0, count: 70_000))
    #expect(long.encoded.prefix(8) == [4, 0, 0, 0, 0, 1, 0x11, 0x70])
  }

  @Test("frames are the same in pieces of any size", arguments: [1, 2, 3, 7, 8, 9, 1000])
  func pieces(size: Int) throws {
    var decoder = FrameDecoder()
    var rest = Self.frames.flatMap(\.encoded)[...]
    var decoded: [Frame] = []
    while !rest.isEmpty {
      decoder.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let frame = try decoder.next() { decoded.append(frame) }
    }
    #expect(decoded == Self.frames)
    #expect(decoder.heldCount == 0)
  }

  @Test("a payload above the limit of its type is refused by its header alone", arguments: Frame.Kind.allCases)
  func tooLong(kind: Frame.Kind) throws {
    var decoder = FrameDecoder()
    let length = kind.longest + 1
    decoder.append([
      kind.rawValue, 0, 0, 0, 0, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF),
    ])
    #expect(throws: Violation.self) { try decoder.next() }
  }

  @Test("an unknown type is refused", arguments: [0, 14, 255] as [UInt8])
  func unknown(type: UInt8) throws {
    var decoder = FrameDecoder()
    decoder.append([type, 0, 0, 0, 0, 0, 0, 0])
    #expect(throws: Violation.self) { try decoder.next() }
  }

  @Test("a hello comes back as it was; a malformed one is refused")
  func hello() throws {
    let hello = Hello(
      identifier: 0x0102_0304_0506_0708, name: "Günther", session: Array(0..<16), receivedControl: 5,
      receivedBulk: .max, nonce: Array(16..<32), ticket: 9, key: Array(repeating: 3, count: 32))
    #expect(try Hello(hello.frame) == hello)
    var frame = hello.frame
    frame.payload.append(99)
    #expect(try Hello(frame) == hello)
    for length in 0..<hello.frame.payload.count {
      frame.payload = Array(hello.frame.payload.prefix(length))
      #expect(throws: Violation.self) { try Hello(frame) }
    }
    for name in ["", "a\u{1B}[2J", "a\nb", String(repeating: "x", count: 64), "\u{202E}abc"] {
      #expect(throws: Violation.self) { try Hello(Hello(identifier: 1, name: name).frame) }
    }
    frame = hello.frame
    frame.payload[0] = 2
    #expect(throws: Violation.self) { try Hello(frame) }
  }

  @Test("types of services are those of RFC 6335, and their UUIDs are fixed")
  func serviceTypes() throws {
    for text in ["a", "bled-files", "x1", "1-a-2", "abcdefghijklmno"] { #expect(ServiceType(text) != nil, "\(text)") }
    for text in ["", "1", "A", "a_b", "-a", "a-", "a--b", "abcdefghijklmnop", "é"] {
      #expect(ServiceType(text) == nil, "\(text)")
    }
    let uuid = try #require(ServiceType("bled-files")).uuid
    #expect("\(uuid)" == "C1EAC330-3CA3-8EE1-88F3-67D7741909A5")
  }

  @Test(
    "names for received files",
    arguments: [
      ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("..", "unnamed"), (".bashrc", "bashrc"),
      ("C:\\a\\b.txt", "b.txt"), ("a\u{0}b\u{1B}[2J\nc", "ab[2Jc"), ("/", "unnamed"), ("", "unnamed"),
      ("\u{202E}gpj.exe", "gpj.exe"), ("  . x", "x"), ("a/", "a"),
    ])
  func fileNames(given: String, cleaned: String) { #expect(PeerName.file(given) == cleaned) }

  @Test("a long name keeps its ending, and has room for a number")
  func longFileNames() {
    let name = PeerName.file(String(repeating: "é", count: 300) + ".jpg")
    #expect(name.hasSuffix("é.jpg") && name.utf8.count <= 200)
    #expect(PeerName.file("photo.jpg", number: 2) == "photo (2).jpg")
    #expect(PeerName.file("notes", number: 3) == "notes (3)")
    #expect(PeerName.valid("\u{1B}[2Jbox" + String(repeating: "x", count: 90)).utf8.count == 63)
    #expect(PeerName.valid("\n") == "unnamed")
  }
}
