import Bluetooth
import Fuzzing
import Noise

/// Nearby sessions: frames in pieces, channels that strangers open, and a session with a peer that holds the keys and
/// sends any frames.
@main
enum Nearby {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      switch input.octet() & 3 {
      case 0: cut(&input)
      case 1: open(&input)
      default:
        var run = SessionRun(isDialer: input.octet() & 1 == 1)
        while !input.isEmpty { run.step(&input) }
        run.end()
      }
    }
  }

  /// The same octets in pieces of two sizes are the same frames, and no more is held than a frame has.
  private static func cut(_ input: inout FuzzInput) {
    let size = 1 + Int(input.octet())
    let stream = input.remainder()
    invariant(frames(stream, size: size) == frames(stream, size: max(1, stream.count)), "the pieces change the frames")
  }

  private static func frames(_ stream: [UInt8], size: Int) -> [Frame?] {
    var decoder = FrameDecoder()
    var frames: [Frame?] = []
    var rest = stream[...]
    while !rest.isEmpty {
      decoder.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      do {
        while let frame = try decoder.next() {
          invariant(frame.payload.count <= frame.kind.longest, "a payload of \(frame.payload.count) octets")
          frames.append(frame)
        }
      } catch {
        return frames + [nil]
      }
    }
    return frames
  }

  private static let key = X25519KeyPair(privateKey: [UInt8](repeating: 1, count: 32)) ?? X25519KeyPair()

  /// Octets of a stranger: a preface, and handshakes that cannot succeed.
  private static func open(_ input: inout FuzzInput) {
    var reader = PrefaceReader()
    do {
      guard let preface = try reader.receive(input.packet()) else { return }
      switch preface {
      case .control:
        guard
          var opening = ControlOpening(
            .responder, type: .files, key: key, hello: Hello(identifier: 1, name: "a"), records: reader.records,
            nonce: [UInt8](repeating: 2, count: 16))
        else { return }
        var actions = try opening.start()
        while !input.isEmpty {
          for case .opened in actions { invariant(false, "a stranger has opened a channel") }
          actions = try opening.receive(input.packet())
        }
      case .bulk(let ticket):
        guard
          var opening = BulkOpening(
            .responder, type: .files, ticket: ticket, key: [UInt8](repeating: 3, count: 32), records: reader.records)
        else { return }
        var step = try opening.start()
        while !input.isEmpty {
          invariant(step.stream == nil, "a stranger has opened a channel")
          step = try opening.receive(input.packet())
        }
      }
    } catch {}
  }
}
