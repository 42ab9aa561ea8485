import Bluetooth

/// The Apple Media Service: an iPhone's player, for bonded devices.
public enum AMS {
  /// The service.
  public static let service = BluetoothUUID(high: 0x89D3_502B_0F36_433A, low: 0x8EF4_C502_AD55_F8DC)
  /// Remote Command: accepts commands, and notifies the currently possible ones.
  public static let remoteCommand = BluetoothUUID(high: 0x9B3C_81D8_57B1_4A8A, low: 0xB8DF_0E56_F7CA_51C2)
  /// Entity Update: accepts the attributes of interest, and notifies their values.
  public static let entityUpdate = BluetoothUUID(high: 0x2F7C_ABCE_808D_411F, low: 0x9A0C_BB92_BA96_C102)
  /// Entity Attribute: returns the whole of a truncated value.
  public static let entityAttribute = BluetoothUUID(high: 0xC6B2_F38C_23AB_46D8, low: 0xA6AB_A3A8_70BB_D5D7)

  /// The meaning of the phone's ATT error; nil for errors outside of AMS.
  public static func refusal(_ code: UInt8) -> String? {
    switch code {
    case 0xA0: "the service is not set up for it"
    case 0xA1: "invalid command"
    case 0xA2: "the value is empty"
    default: nil
    }
  }
}

/// A command for the player (AMS, RemoteCommandID values).
public enum MediaCommand: UInt8, Sendable, CaseIterable {
  /// Play.
  case play = 0
  /// Pause.
  case pause = 1
  /// Play or pause, whichever it does not do.
  case toggle = 2
  /// The next track.
  case next = 3
  /// The previous track.
  case previous = 4
  /// Louder.
  case volumeUp = 5
  /// Quieter.
  case volumeDown = 6
  /// The next way to repeat.
  case advanceRepeatMode = 7
  /// The next way to shuffle.
  case advanceShuffleMode = 8
  /// Skips some seconds forward.
  case skipForward = 9
  /// Skips some seconds backward.
  case skipBackward = 10
  /// The track is liked.
  case like = 11
  /// The track is disliked.
  case dislike = 12
  /// The track is remembered.
  case bookmark = 13

  /// The value to write to Remote Command.
  public var octets: [UInt8] { [rawValue] }

  /// Reads a Remote Command notification: the commands the player accepts now. Unknown ones are dropped.
  public static func list(_ octets: [UInt8]) -> Set<MediaCommand> { Set(octets.compactMap(MediaCommand.init)) }
}

/// An attribute of the player, its queue or its track (AMS, EntityID values and their AttributeIDs).
public enum MediaAttribute: Hashable, Sendable, CaseIterable {
  case playerName, playback, volume
  case queueIndex, queueCount, shuffleMode, repeatMode
  case artist, album, title, duration

  /// The entity's and the attribute's numbers.
  public var numbers: (entity: UInt8, attribute: UInt8) {
    switch self {
    case .playerName: (0, 0)
    case .playback: (0, 1)
    case .volume: (0, 2)
    case .queueIndex: (1, 0)
    case .queueCount: (1, 1)
    case .shuffleMode: (1, 2)
    case .repeatMode: (1, 3)
    case .artist: (2, 0)
    case .album: (2, 1)
    case .title: (2, 2)
    case .duration: (2, 3)
    }
  }

  /// The values to write to Entity Update, one per entity, to receive all attributes.
  public static var subscriptions: [[UInt8]] {
    (0...2).map { entity in
      [entity] + allCases.map(\.numbers).filter { $0.entity == entity }.map(\.attribute)
    }
  }

  /// The value to write to Entity Attribute, which then reads as the whole value.
  public var octets: [UInt8] { [numbers.entity, numbers.attribute] }
}

/// A notification of Entity Update.
public struct MediaUpdate: Hashable, Sendable {
  /// The longest accepted value, in octets.
  public static let maximumLength = 512

  /// The attribute.
  public var attribute: MediaAttribute
  /// Its value; octets that are invalid UTF-8 are replaced.
  public var value: String
  /// True if the value was truncated: Entity Attribute has the whole.
  public var isTruncated: Bool

  /// Reads a notification.
  /// - Returns: nil if it is too short or too long, or the attribute is unknown.
  public init?(_ octets: [UInt8]) {
    guard octets.count >= 3, octets.count <= 3 + Self.maximumLength,
      let attribute = MediaAttribute.allCases.first(where: { $0.octets == Array(octets.prefix(2)) })
    else { return nil }
    self.attribute = attribute
    isTruncated = octets[2] & 1 != 0
    value = String(decoding: octets.dropFirst(3), as: UTF8.self)
  }

  /// The notification.
  public var octets: [UInt8] { attribute.octets + [isTruncated ? 1 : 0] + Array(value.utf8) }
}
