import Bluetooth

/// The service and the characteristic of MCUmgr over Bluetooth LE: requests are written without response, and responses
/// are notified.
public enum ManagementService {
  /// The service.
  public static let uuid = BluetoothUUID(high: 0x8D53_DC1D_1DB7_4CD3, low: 0x868B_8A52_7460_AA84)
  /// Its characteristic.
  public static let characteristic = BluetoothUUID(high: 0xDA2E_7828_FBCE_4E01, low: 0xAE9E_2611_7499_7C48)
}

/// A request of MCUmgr.
public enum ManagementRequest: Hashable, Sendable {
  /// The device returns the text.
  case echo(String)
  /// The device restarts.
  case reset
  /// The number and the size of the device's buffers.
  case parameters
  /// The images in the device's slots.
  case imageState
  /// The image with this hash is started at the next reset: once, or with `confirm` from then on. Without a hash the
  /// running image is confirmed.
  case setImageState(hash: [UInt8]?, confirm: Bool)
  /// A part of an image.
  case upload(UploadPart)
  /// A slot is erased.
  case erase(slot: Int)
  /// A command of the device's shell.
  case shell([String])

  /// The groups of commands.
  public enum Group: UInt16, Sendable {
    case os = 0
    case image = 1
    case shell = 9
  }

  /// The group and the number of the command.
  public var command: (group: Group, number: UInt8) {
    switch self {
    case .echo: (.os, 0)
    case .reset: (.os, 5)
    case .parameters: (.os, 6)
    case .imageState, .setImageState: (.image, 0)
    case .upload: (.image, 1)
    case .erase: (.image, 5)
    case .shell: (.shell, 0)
    }
  }

  /// Its frame.
  /// - Parameter sequence: The number that the response repeats.
  public func frame(sequence: UInt8) -> ManagementFrame {
    let (operation, payload): (ManagementFrame.Operation, CBORValue) =
      switch self {
      case .echo(let text): (.write, .members([("d", .text(text))]))
      case .reset: (.write, .map([]))
      case .parameters, .imageState: (.read, .map([]))
      case .setImageState(let hash, let confirm):
        (.write, .members([("hash", hash.map { .octets($0) }), ("confirm", .bool(confirm))]))
      case .upload(let part): (.write, part.payload)
      case .erase(let slot): (.write, .members([("slot", .integer(slot))]))
      case .shell(let words): (.write, .members([("argv", .array(words.map { .text($0) }))]))
      }
    return ManagementFrame(
      operation, group: command.group.rawValue, command: command.number, sequence: sequence, payload: payload)
  }

  /// Reads a request, as a device does; nil if it is another one, or lacks a member.
  public init?(_ frame: ManagementFrame) {
    let payload = frame.payload
    switch (frame.operation, frame.group, frame.command) {
    case (.write, 0, 0), (.read, 0, 0):
      guard let text = payload["d"]?.string else { return nil }
      self = .echo(text)
    case (.write, 0, 5): self = .reset
    case (.read, 0, 6): self = .parameters
    case (.read, 1, 0): self = .imageState
    case (.write, 1, 0):
      self = .setImageState(hash: payload["hash"]?.bytes, confirm: payload["confirm"]?.isTrue ?? false)
    case (.write, 1, 1):
      guard let part = UploadPart(payload) else { return nil }
      self = .upload(part)
    case (.write, 1, 5): self = .erase(slot: payload["slot"]?.integer ?? 1)
    case (.write, 9, 0):
      guard let words = payload["argv"]?.elements else { return nil }
      self = .shell(words.compactMap(\.string))
    default: return nil
    }
  }
}

/// A part of an image on its way to the device.
public struct UploadPart: Hashable, Sendable {
  /// Members that only the first part has.
  public struct Beginning: Hashable, Sendable {
    /// The number of the image on a device with several processors, 0 for one.
    public var image: Int
    /// The length of the whole file in octets.
    public var length: Int
    /// The SHA-256 hash of the whole file; the device recognizes an interrupted upload with it.
    public var hash: [UInt8]?

    /// Makes the members of a first part.
    public init(image: Int, length: Int, hash: [UInt8]?) {
      (self.image, self.length, self.hash) = (image, length, hash)
    }
  }

  /// The offset of the octets in the file.
  public var offset: Int
  /// The octets.
  public var data: [UInt8]
  /// Of the part at 0.
  public var beginning: Beginning?

  /// Makes a part.
  public init(offset: Int, data: [UInt8], beginning: Beginning? = nil) {
    (self.offset, self.data, self.beginning) = (offset, data, beginning)
  }

  init?(_ payload: CBORValue) {
    guard let offset = payload["off"]?.integer, let data = payload["data"]?.bytes else { return nil }
    let beginning = payload["len"]?.integer.map {
      Beginning(image: payload["image"]?.integer ?? 0, length: $0, hash: payload["sha"]?.bytes)
    }
    self.init(offset: offset, data: data, beginning: beginning)
  }

  var payload: CBORValue {
    .members([
      ("off", .integer(offset)), ("data", .octets(data)), ("image", beginning.map { .integer($0.image) }),
      ("len", beginning.map { .integer($0.length) }), ("sha", beginning?.hash.map { .octets($0) }),
    ])
  }
}
