import Bluetooth
import BluetoothCrypto

/// The reason for rejecting a packet of the Security Manager Protocol.
enum SMPCodingError: Error, Hashable, Sendable {
  /// There is no octet.
  case empty
  /// The code is not known; such packets are ignored (Core 5.4, Vol 3, Part H, 3.3).
  case unknownCode(UInt8)
  /// A packet with this code has another length.
  case length(SMPPDU.Code)
  /// A field has a reserved value.
  case reservedValue(SMPPDU.Code)
}

extension SMPPDU {
  /// Parses one packet.
  /// - Throws: `SMPCodingError` for anything impossible in a packet with its code.
  init(parsing octets: [UInt8]) throws(SMPCodingError) {
    guard let first = octets.first else { throw .empty }
    guard let code = Code(rawValue: first) else { throw .unknownCode(first) }
    guard octets.count == code.length else { throw .length(code) }
    guard let pdu = SMPPDU(code, octets.dropFirst()) else { throw .reservedValue(code) }
    self = pdu
  }

  /// - Parameter value: as many octets as the code demands.
  private init?(_ code: Code, _ value: ArraySlice<UInt8>) {
    var reader = OctetReader(Array(value))
    func key(_ make: (Key128) -> SMPPDU) -> SMPPDU? { Key128(littleEndian: value).map(make) }
    let pdu: SMPPDU? =
      switch code {
      case .pairingRequest: PairingFeatures(&reader).map(SMPPDU.pairingRequest)
      case .pairingResponse: PairingFeatures(&reader).map(SMPPDU.pairingResponse)
      case .pairingConfirm: key(SMPPDU.pairingConfirm)
      case .pairingRandom: key(SMPPDU.pairingRandom)
      case .pairingFailed: reader.uint8().map { .pairingFailed(PairingFailureReason(rawValue: $0)) }
      case .encryptionInformation: key(SMPPDU.encryptionInformation)
      case .centralIdentification:
        if let diversifier = reader.uint16(), let random = reader.unsigned(8) {
          .centralIdentification(diversifier: diversifier, random: random)
        } else {
          nil
        }
      case .identityInformation: key(SMPPDU.identityInformation)
      case .identityAddressInformation:
        reader.uint8().flatMap(DeviceAddress.Kind.init(rawValue:)).flatMap {
          DeviceAddress(littleEndian: value.dropFirst(), kind: $0)
        }.map(SMPPDU.identityAddressInformation)
      case .signingInformation: key(SMPPDU.signingInformation)
      case .securityRequest: reader.uint8().map { .securityRequest(AuthenticationRequirements(rawValue: $0)) }
      case .pairingPublicKey: P256PublicKey(littleEndian: value).map(SMPPDU.pairingPublicKey)
      case .pairingDHKeyCheck: key(SMPPDU.pairingDHKeyCheck)
      case .keypressNotification: reader.uint8().flatMap(Keypress.init(rawValue:)).map(SMPPDU.keypressNotification)
      }
    guard let pdu else { return nil }
    self = pdu
  }

  /// The packet's octets.
  package var encoded: [UInt8] {
    switch self {
    case .pairingRequest(let features), .pairingResponse(let features): [code.rawValue] + features.encoded
    case .pairingConfirm(let key), .pairingRandom(let key), .pairingDHKeyCheck(let key),
      .encryptionInformation(let key), .identityInformation(let key), .signingInformation(let key):
      [code.rawValue] + key.littleEndian
    case .pairingFailed(let reason): [code.rawValue, reason.rawValue]
    case .pairingPublicKey(let key): [code.rawValue] + key.littleEndian
    case .keypressNotification(let keypress): [code.rawValue, keypress.rawValue]
    case .centralIdentification(let diversifier, let random):
      [code.rawValue, UInt8(truncatingIfNeeded: diversifier), UInt8(truncatingIfNeeded: diversifier >> 8)]
        + (0..<8).map { UInt8(truncatingIfNeeded: random >> (8 * $0)) }
    case .identityAddressInformation(let address): [code.rawValue, address.kind.rawValue] + address.littleEndian
    case .securityRequest(let requirements): [code.rawValue, requirements.rawValue]
    }
  }
}

extension SMPPDU.Code {
  /// The length of such a packet in octets, code included.
  fileprivate var length: Int {
    switch self {
    case .pairingRequest, .pairingResponse: 7
    case .pairingConfirm, .pairingRandom, .pairingDHKeyCheck, .encryptionInformation, .identityInformation,
      .signingInformation:
      17
    case .pairingFailed, .securityRequest, .keypressNotification: 2
    case .centralIdentification: 11
    case .identityAddressInformation: 8
    case .pairingPublicKey: 65
    }
  }
}
