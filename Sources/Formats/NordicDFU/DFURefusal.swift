/// A refusal of a boot loader (nRF5 SDK 17.1, `nrf_dfu_result_t` and `nrf_dfu_ext_error_code_t`).
public struct DFURefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code of refusals with an extended error.
  public static let extended: UInt8 = 0x0B
  /// The boot loader's state does not allow the request.
  public static let notPermitted = DFURefusal(code: 0x08)

  /// The firmware's version is one that the boot loader does not accept, mostly because the device has it.
  public static let version = DFURefusal(code: extended, extended: 5)

  /// The code, not 1.
  public let code: UInt8
  /// The extended error, with the code 0x0B.
  public let extended: UInt8?

  /// Makes a refusal.
  public init(code: UInt8, extended: UInt8? = nil) { (self.code, self.extended) = (code, extended) }

  /// "the version is not newer than … (extended error 5)"
  public var description: String {
    if code == Self.extended, let extended {
      return Self.extendedWords[extended].map { "\($0) (extended error \(extended))" } ?? "extended error \(extended)"
    }
    return Self.words[code].map { "\($0) (error \(code))" } ?? "error \(code)"
  }

  private static let words: [UInt8: String] = [
    0: "the request is invalid", 2: "the boot loader does not know the request", 3: "a parameter is wrong or missing",
    4: "there is not enough memory for the object",
    5: "the object does not fit the firmware, or its hash or signature is wrong",
    7: "the boot loader does not know this kind of object", 8: "the boot loader's state does not allow it",
    10: "the boot loader failed to do it", 11: "an extended error that it does not name",
  ]

  private static let extendedWords: [UInt8: String] = [
    0: "no reason was set", 1: "an invalid reason was set", 2: "the format of the command is wrong",
    3: "the boot loader does not know the command",
    4: "the init packet is invalid: a member that this kind of update needs is missing",
    5: "the firmware's version is lower than that of the device, or one that it does not accept again",
    6: "the firmware is for another hardware version",
    7: "the firmware is for other SoftDevices than the one of the device",
    8: "the init packet has no signature: sign the package with the key of this boot loader",
    9: "the boot loader does not know the kind of hash in the init packet",
    10: "the hash of the firmware cannot be calculated, or differs",
    11: "the boot loader does not know the kind of signature in the init packet",
    12: "the signature is not by the key of this boot loader, or the firmware is not the one that was signed",
    13: "there is not enough room for the firmware",
  ]
}
