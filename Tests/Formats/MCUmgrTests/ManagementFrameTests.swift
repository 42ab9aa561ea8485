import Bluetooth
import MCUmgr
import Testing

/// Requests as the package smp 4.2.0 of PyPI encodes them, octet for octet; responses as devices send them.
@Suite struct ManagementFrameTests {
  private static let hash = Array(UInt8(0)..<32)
  private static let hashText = Hex.encode(hash)

  @Test(
    "requests have the octets of another encoder",
    arguments: [
      (.echo("hi"), "0a00000600000000a16164626869"), (.reset, "0a00000100000005a0"),
      (.parameters, "0800000100000006a0"), (.imageState, "0800000100010000a0"),
      (
        .setImageState(hash: hash, confirm: false),
        "0a00003100010000a264686173685820\(hashText)67636f6e6669726df4"
      ),
      (
        .setImageState(hash: hash, confirm: true),
        "0a00003100010000a264686173685820\(hashText)67636f6e6669726df5"
      ),
      (.erase(slot: 1), "0a00000700010005a164736c6f7401"),
      (.shell(["kernel", "uptime"]), "0a00001500090000a1646172677682666b65726e656c66757074696d65"),
      (
        .upload(.init(offset: 0, data: Array("abcd".utf8), beginning: .init(image: 0, length: 1000, hash: hash))),
        "0a00004400010001a5636c656e1903e8636f666600637368615820\(hashText)6464617461446162636465696d61676500"
      ),
      (
        .upload(.init(offset: 300, data: Array("abcd".utf8))),
        "0a00001200010001a2636f666619012c64646174614461626364"
      ),
    ] as [(ManagementRequest, String)])
  func requests(request: ManagementRequest, hex: String) throws {
    #expect(Hex.encode(request.frame(sequence: 0).encoded) == hex)
    let frame = try ManagementFrame(decoding: octets(hex))
    #expect(ManagementRequest(frame) == request && frame.version == 1)
  }

  @Test("the header has all its fields")
  func header() throws {
    let frame = try ManagementFrame(decoding: octets("0b 7f 0001 003f c8 02 a0"))
    #expect(frame.operation == .writeResponse && frame.flags == 0x7F && frame.group == 63)
    #expect(frame.sequence == 200 && frame.command == 2 && frame.payload == .map([]))
    #expect(Hex.encode(frame.encoded) == "0b7f0001003fc802a0")
    #expect(try ManagementFrame(decoding: octets("0100000000000006")).payload == .map([]))
  }

  @Test(
    "octets that are no frame",
    arguments: [
      "", "0a000001000000", "0a00000200000005a0", "0a00000000000005a0", "0c00000100000005a0", "0a0000010000000500",
      "0a00000100000005ff",
    ])
  func faults(hex: String) {
    #expect(throws: ManagementFrameError.self) { try ManagementFrame(decoding: octets(hex)) }
  }

  @Test("a response has the number, group and command of its request, and any number of a response")
  func responses() {
    let request = ManagementRequest.setImageState(hash: nil, confirm: true).frame(sequence: 7)
    func answer(_ operation: ManagementFrame.Operation, _ sequence: UInt8, _ command: UInt8) -> Bool {
      let frame = ManagementFrame(operation, group: 1, command: command, sequence: sequence, payload: .map([]))
      return frame.answers(request)
    }
    #expect(answer(.writeResponse, 7, 0) && answer(.readResponse, 7, 0))
    #expect(!answer(.write, 7, 0) && !answer(.writeResponse, 8, 0) && !answer(.writeResponse, 7, 1))
  }

  @Test("frames are joined from packets, and divided by their lengths")
  func assembly() {
    let first = ManagementRequest.echo(String(repeating: "a", count: 300)).frame(sequence: 1)
    let second = ManagementRequest.reset.frame(sequence: 2)
    var assembly = FrameAssembly()
    let all = first.encoded + second.encoded
    #expect(assembly.receive(Array(all[..<4])).isEmpty)
    #expect(assembly.receive(Array(all[4..<250])).isEmpty)
    #expect(assembly.receive(Array(all[250...])) == [first, second])
    // A frame that cannot be read takes the octets behind it along.
    #expect(assembly.receive(octets("0a00000100000005ff") + second.encoded).isEmpty && assembly.faults == 1)
    #expect(assembly.receive(second.encoded) == [second])
    #expect(assembly.receive(Array(all[..<4])).isEmpty)
    assembly.reset()
    #expect(assembly.receive(second.encoded) == [second])
  }

  @Test("errors of both forms in words")
  func errors() throws {
    func words(_ payload: String) throws -> String? {
      let body = octets(payload)
      let frame = try ManagementFrame(decoding: octets("0b0000") + [UInt8(body.count)] + octets("00010001") + body)
      return ManagementError(frame).map { "\($0)" }
    }
    #expect(try words("a1 627263 08") == "the device does not support the command (error 8)")
    #expect(try words("a2 627263 03 6372736e 6362616d") == "a member of the request is invalid (error 3): bam")
    #expect(
      try words("bf 63657272 bf 6567726f7570 01 627263 03 ff ff") == "no image in the slot (image group, error 3)")
    #expect(try words("a1 63657272 a1 627263 1863") == "image group, error 99")
    #expect(try words("a1 63657272 a2 6567726f7570 1840 627263 01") == "group 64, error 1")
    #expect(try words("a2 627263 00 636f6666 04") == nil)
    #expect(try words("a1 63657272 a1 6567726f7570 01") == "an unknown error (image group, error 1)")
  }

  @Test("the images of a device, in maps of indefinite length")
  func images() throws {
    let image = "bf 64736c6f74 00 6776657273696f6e 65312e322e33 6468617368 5820 \(Self.hashText) 66616374697665 f5 ff"
    let body = octets("bf 66696d61676573 9f \(image) ff 6b73706c6974537461747573 00 ff")
    let frame = try ManagementFrame(decoding: octets("0100") + [0, UInt8(body.count)] + octets("00010000") + body)
    let expected = ImageState(slot: 0, version: "1.2.3", hash: Self.hash, isBootable: false, isActive: true)
    #expect(try ImageState.list(frame) == [expected])
    let same = ManagementFrame(
      .readResponse, group: 1, command: 0, sequence: 0, payload: ImageState.payload([expected]))
    #expect(try ImageState.list(same) == [expected])
    let second = ImageState(image: 1, slot: 1, version: "2.0.0", hash: nil, isPending: true, isPermanent: true)
    let both = ManagementFrame(
      .readResponse, group: 1, command: 0, sequence: 0, payload: ImageState.payload([expected, second]))
    #expect(try ImageState.list(both) == [expected, second])
    #expect(throws: ManagementFrameError.self) {
      try ImageState.list(try ManagementFrame(decoding: [1, 0, 0, 0, 0, 1, 0, 0]))
    }
  }
}
