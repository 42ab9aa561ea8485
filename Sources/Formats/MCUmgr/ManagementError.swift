/// An error that a device answers a request of MCUmgr with.
public struct ManagementError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The group that the code belongs to; nil for the codes that all groups share, `rc`.
  public let group: UInt16?
  /// The code, not 0.
  public let code: Int
  /// The device's own text.
  public let reason: String?

  /// Makes an error.
  public init(group: UInt16?, code: Int, reason: String? = nil) {
    (self.group, self.code, self.reason) = (group, code, reason)
  }

  /// True if the device lacks the command.
  public var isUnsupported: Bool { group == nil && code == 8 }

  /// The error in a response; nil if it has none, or the code 0. An error without a code is an unknown one, 1.
  public init?(_ frame: ManagementFrame) {
    let payload = frame.payload
    if let error = payload["err"] {
      let group = error["group"]?.integer.flatMap(UInt16.init(exactly:)) ?? frame.group
      let code = error["rc"]?.signedInteger ?? 1
      guard code != 0 else { return nil }
      self.init(group: group, code: code)
    } else {
      guard let code = payload["rc"]?.signedInteger, code != 0 else { return nil }
      self.init(group: nil, code: code, reason: payload["rsn"]?.string)
    }
  }

  /// "no image in the slot (image group, error 3)"
  public var description: String {
    let name = group.map { Self.groupNames[$0] ?? "group \($0)" }
    let place = name.map { "\($0), error \(code)" } ?? "error \(code)"
    let words = group == nil ? Self.shared[code] : Self.grouped[group ?? 0]?[code]
    return (words.map { "\($0) (\(place))" } ?? place) + (reason.map { ": \($0)" } ?? "")
  }

  private static let groupNames: [UInt16: String] = [
    0: "OS group", 1: "image group", 2: "statistics group", 3: "settings group", 8: "file group", 9: "shell group",
    10: "enumeration group", 63: "Zephyr group",
  ]

  /// `mcumgr_err_t`
  private static let shared: [Int: String] = [
    1: "an unknown error", 2: "the device is out of memory", 3: "a member of the request is invalid",
    4: "the device did not finish in time", 5: "there is no such entry",
    6: "the device's state does not allow the command", 7: "the response would be too long",
    8: "the device does not support the command", 9: "the data is corrupt", 10: "the device is busy",
    11: "the device denies access", 12: "the device wants a newer protocol", 13: "the device wants an older protocol",
  ]

  private static let grouped: [UInt16: [Int: String]] = [
    0: [
      1: "an unknown error", 2: "the format is invalid", 3: "the query has no answer", 4: "the clock is not set",
      5: "the clock failed", 6: "the query has no valid answer",
    ],
    1: [
      1: "an unknown error", 2: "the flash could not be examined", 3: "no image in the slot",
      4: "the image has no trailer", 5: "the image's trailer is invalid", 6: "the image has several hashes",
      7: "an entry of the image's trailer has a wrong length", 8: "the image has no hash", 9: "no slot is free",
      10: "the flash could not be opened", 11: "the flash could not be read", 12: "the flash could not be written",
      13: "the flash could not be erased", 14: "there is no such slot", 15: "the device is out of memory",
      16: "the flash is in use", 17: "the flash is not in use", 18: "the flash is missing",
      19: "a page of the flash is out of range", 20: "the offset is missing", 21: "the length is missing",
      22: "the file is shorter than the header of an image", 23: "the file is no image for MCUboot",
      24: "the hash is invalid", 25: "the image is linked for another address",
      26: "the version of the running image is unknown", 27: "the running image is newer",
      28: "another image is pending", 29: "the image's vector table is invalid",
      30: "the image is too large for the slot", 31: "more data than the image has",
      32: "the device denies to confirm the image", 33: "the running image cannot be tested",
      34: "the running slot is unknown",
    ],
    9: [1: "an unknown error", 2: "the command is too long", 3: "no command was given"],
  ]
}
