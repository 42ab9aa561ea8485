import Noise

/// A channel after its handshake: frames in, encrypted messages out, and the reverse.
struct SecureStream: Sendable {
  /// A message's longest plaintext: with tag and length it fits into one packet of a usual channel.
  static let longestPlaintext = 8192 - 2 - CipherState.overhead

  private var transport: Handshake.Transport
  private var records: RecordReader
  private var frames = FrameDecoder()

  /// - Parameter records: with the octets received behind the handshake.
  init(_ transport: Handshake.Transport, _ records: RecordReader) {
    self.transport = transport
    self.records = records
  }

  /// The octets not decrypted yet.
  var heldCount: Int { records.heldCount }

  mutating func append(_ octets: some Collection<UInt8>) { records.append(octets) }

  /// The other side's next frame; nil if more octets are needed.
  mutating func next() throws(Violation) -> Frame? {
    while true {
      if let frame = try frames.next() { return frame }
      guard let record = records.next() else { return nil }
      do throws(NoiseError) {
        frames.append(try transport.receiving.decrypt(record))
      } catch {
        throw Violation("a message that is not authentic")
      }
    }
  }

  /// Encrypts octets of frames, in as many messages as they need.
  mutating func seal(_ octets: [UInt8]) throws(Violation) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(octets.count + (octets.count / Self.longestPlaintext + 1) * (2 + CipherState.overhead))
    var rest = octets[...]
    while !rest.isEmpty {
      do throws(NoiseError) {
        result += RecordReader.record(try transport.sending.encrypt(Array(rest.prefix(Self.longestPlaintext))))
      } catch {
        throw Violation("the key of the channel is used up")
      }
      rest = rest.dropFirst(Self.longestPlaintext)
    }
    return result
  }
}
