import Beacons
import BledRPC
import Bluetooth
import BluetoothCrypto
import FoundationEssentials

/// The decoded content for a scan with `decode`, beside the devices' data.
struct ScanDecoding {
  /// Maximum keys in a scan.
  private static let limit = 64

  /// By address number, regardless of its type.
  private var keys: [UInt64: Key128] = [:]

  /// - Returns: nil for a scan without decoding.
  /// - Throws: `BledError.invalidParameter` for invalid keys; the message contains no octet of them.
  init?(_ params: ScanStart.Params) throws {
    let given = params.keys ?? []
    guard params.decode == true else {
      guard given.isEmpty else { throw BledError.invalidParameter.error("\"keys\" require \"decode\": true") }
      return nil
    }
    guard given.count <= Self.limit else {
      throw BledError.invalidParameter.error("\"keys\" may list at most \(Self.limit)")
    }
    for entry in given {
      guard let address = DeviceAddress(entry.address, kind: .public) else {
        throw BledError.invalidParameter.error(
          "\"keys\": \"\(entry.address.excerpt)\" is not an address: give six pairs of hex digits with colons between them"
        )
      }
      guard let key = Key128(bigEndian: entry.key.octets) else {
        throw BledError.invalidParameter.error(
          "\"keys\": the key of \(address) has \(entry.key.octets.count) octets: a bind key has 16, give 32 hex digits"
        )
      }
      keys[address.value] = key
    }
  }

  /// The meaning of a device's data. It is decoded once for all scans, and again for a scan with its key.
  func decoded(_ peripheral: Peripheral, _ cache: inout ReportCache) -> DecodedReport.Part {
    let report: DecodedReport
    if let kept = cache.decoded(peripheral) {
      report = kept
    } else {
      report = DecodedReport(peripheral)
      cache.keep(report, of: peripheral)
    }
    guard report.sealed.contains(where: { keys[$0.value] != nil }) else { return report.shared }
    return (try? ScanReport.encoded(peripheral.decode(open: open))).map(DecodedReport.Part.own) ?? report.shared
  }

  private func open(_ box: SealedData) -> SealedData.Opened {
    guard let key = keys[box.address.value] else { return .keyIsMissing }
    let octets = AESCCM.open(
      box.payload, check: box.check, nonce: box.nonce, associatedData: box.associatedData, key: key)
    return octets.map(SealedData.Opened.octets) ?? .keyIsWrong
  }
}

/// A report's lines: one for all sessions with the same content, and one for each scan with a number.
struct ReportLines {
  private var plain: Data?
  private var decoded: Data?

  /// - Parameters:
  ///   - part: the members for the session beside the data; nil for nothing.
  ///   - scan: the scan's number; nil for none.
  ///   - encode: makes a line, with the given JSON.
  mutating func line(with part: DecodedReport.Part?, scan: Int?, encode: (Data?) -> Data?) -> Data? {
    switch part {
    case nil where scan != nil, .nothing? where scan != nil: return encode(nil)
    case .shared(let json)? where scan != nil: return encode(json)
    case nil, .nothing?:
      plain = plain ?? encode(nil)
      return plain
    case .shared(let json)?:
      decoded = decoded ?? encode(json)
      return decoded
    case .own(let json)?: return encode(json)
    }
  }
}
