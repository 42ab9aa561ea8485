import Noise

/// A bulk channel's opening: the handshake Noise_NNpsk0_25519_ChaChaPoly_SHA256, with the key from the acceptor's
/// hello. So it belongs to that link, and needs no names.
///
/// | State     | Side     | Input     | Output                                   |
/// |-----------|----------|-----------|------------------------------------------|
/// | (begin)   | dialer   | start     | preface and message 1 → handshake        |
/// | handshake | acceptor | message 1 | message 2, `opened`                      |
/// | handshake | dialer   | message 2 | `opened`                                 |
/// | any       | both     | anything else | `Violation`                          |
struct BulkOpening: Sendable {
  private let role: Handshake.Role
  private let preface: Preface
  private var handshake: Handshake
  private var records: RecordReader

  /// - Parameters:
  ///   - key: 32 octets.
  ///   - records: for the acceptor with the octets behind the preface.
  /// - Returns: nil for a key of another length.
  init?(
    _ role: Handshake.Role, type: ServiceType, ticket: UInt64, key: [UInt8], records: RecordReader = RecordReader()
  ) {
    let preface = Preface.bulk(ticket: ticket)
    guard let handshake = Handshake(.nnpsk0, as: role, prologue: preface.prologue(type), preSharedKey: key) else {
      return nil
    }
    self.role = role
    self.preface = preface
    self.handshake = handshake
    self.records = records
  }

  /// Begins; for the acceptor with the octets received with the preface.
  /// - Returns: the octets to be sent, and the channel once it is open.
  mutating func start() throws(Violation) -> (send: [UInt8], stream: SecureStream?) {
    switch role {
    case .initiator: (preface.octets + RecordReader.record(try write()), nil)
    case .responder: try receive([])
    }
  }

  mutating func receive(_ octets: some Collection<UInt8>) throws(Violation) -> (send: [UInt8], stream: SecureStream?) {
    records.append(octets)
    guard let record = records.next() else { return ([], nil) }
    do throws(NoiseError) {
      _ = try handshake.read(record)
    } catch {
      throw Violation("a handshake that failed: \(error)")
    }
    let answer = role == .responder ? RecordReader.record(try write()) : []
    guard let transport = handshake.transport else { throw Violation("an incomplete handshake") }
    return (answer, SecureStream(transport, records))
  }

  private mutating func write() throws(Violation) -> [UInt8] {
    do throws(NoiseError) {
      return try handshake.write()
    } catch {
      throw Violation("a handshake that failed: \(error)")
    }
  }
}
