import Bluetooth
import JSONFiles
import ScenarioRules

/// A central that watches the advertisements of adapters, connects, works through a script, and returns.
package struct PhoneDescription: ReadableFromFile, Sendable {
  package var name: String
  package var address: DeviceAddress
  /// The services; an adapter must advertise one of them for the phone to connect; empty for any adapter.
  package var services: [BluetoothUUID]
  /// The name prefix of the adapters that it connects to; nil for any.
  package var namePrefix: String?
  package var signal: SignalDescription
  /// The pairing description; nil if it does not pair.
  package var pairing: PairingDescription?
  /// The lifetime of a resolvable private address; nil if it shows its own address.
  package var privateAddress: Duration?
  /// The largest ATT MTU it supports.
  package var mtu: Int
  /// The features of its radio on a link.
  package var radio: RadioDescription
  /// The time from a matching advertisement to its attempt to connect.
  package var connectDelay: TimeSpan
  /// The steps once it has discovered everything.
  package var script: [Step]
  /// The length of a visit, unless the script takes longer.
  package var stay: TimeSpan
  /// The time from the end of a visit until it watches again; nil if it visits once.
  package var returnAfter: TimeSpan?

  /// True if it connects to an adapter with this advertisement and scan response.
  package func likes(_ data: AdvertisingData) -> Bool {
    if let namePrefix, data.localName?.hasPrefix(namePrefix) != true { return false }
    return services.isEmpty || services.contains(where: data.serviceUUIDs.contains)
  }

  /// One step of a phone's script.
  package struct Step: ReadableFromFile, Sendable {
    package enum Action: Sendable {
      /// Reads the whole values.
      case read
      /// Writes values, with or without response as the properties allow; with it if they allow both.
      case write([UInt8])
      /// Subscribes to notifications, or to indications where there are none.
      case subscribe
      /// Unsubscribes.
      case unsubscribe
      /// Pairs, or encrypts the link with its keys.
      case pair
      /// Opens an L2CAP channel to this number, sends these octets, and reads until the link ends.
      case openChannel(UInt16, [UInt8])
      /// Does nothing for a while.
      case wait(TimeSpan)
    }

    package var action: Action
    /// The characteristics; nil for all with the property, except in Generic Access and Generic Attribute.
    package var characteristic: BluetoothUUID?

    /// Its name in the file.
    var word: String {
      switch action {
      case .read: Word.read.rawValue
      case .write: Word.write.rawValue
      case .subscribe: Word.subscribe.rawValue
      case .unsubscribe: Word.unsubscribe.rawValue
      case .pair: Word.pair.rawValue
      case .openChannel: Word.openChannel.rawValue
      case .wait: Word.wait.rawValue
      }
    }

    private enum Word: String, CaseIterable { case read, write, subscribe, unsubscribe, pair, wait, openChannel }
    private enum Keys: String, CaseIterable { case `do`, characteristic, value, text, seconds, psm }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      characteristic = try members.optional(.characteristic)
      let word: Word = try members.word(.do)
      switch word {
      case .read: action = .read
      case .subscribe: action = .subscribe
      case .unsubscribe: action = .unsubscribe
      case .pair: action = .pair
      case .wait: action = .wait(try members.required(.seconds))
      case .openChannel:
        let psm: UInt16 = try members.integer(.psm, in: 1...255, default: 0x80)
        action = .openChannel(psm, Array(try members.value(.text, default: "").utf8))
      case .write:
        let limit = ValueDescription.longest
        if let text = try members.optional(.text, String.self) {
          action = .write(Array(text.utf8.prefix(limit)))
        } else if let value = members[.value] {
          action = .write(try value.octets(atMost: limit))
        } else {
          throw members.failure(.value, "there is nothing to write: give it as hex, or as \"text\"")
        }
      }
    }
  }

  private enum Keys: String, CaseIterable {
    case name, address, addressType, services, namePrefix, rssi, mtu, connectDelay, script, stay, returnAfter
    case pairing, privateAddress, radio
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    name = try members.required(.name)
    address = try members.address(of: "phone", .address, type: .addressType)
    services = try members.value(.services, default: [])
    namePrefix = try members.optional(.namePrefix)
    pairing = try members.optional(.pairing)
    privateAddress = try members.rotation(.privateAddress)
    signal = try members.optional(.rssi) ?? SignalDescription()
    mtu = try members.integer(.mtu, in: 23...517, default: 185)
    radio = try members.optional(.radio) ?? RadioDescription()
    connectDelay = try members.value(.connectDelay, default: TimeSpan(0.3))
    script = try members.value(.script, default: [])
    stay = try members.value(.stay, default: TimeSpan(5))
    returnAfter = try members.optional(.returnAfter)
  }
}
