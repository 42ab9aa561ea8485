import Adapter
import Bluetooth
import HCI
import Radio
import Testing

@testable import Controllers

@Suite("When private addresses change")
struct PrivateAddressesTests {
  private let first = DeviceAddress(value: 0x5F11_2233_4455, kind: .random)
  private let second = DeviceAddress(value: 0x6F11_2233_4455, kind: .random)
  private let rotation = Duration.seconds(900)
  private let set = AdvertisingSetID(1)

  private func profile(isExtended: Bool = true) -> ControllerProfile {
    var profile = ControllerProfile(address: DeviceAddress(value: 0x00AA_0100_0000, kind: .public))
    if isExtended { profile.features = .extendedAdvertising }
    return profile
  }

  /// The kernel was asked with extended commands, and makes this address, or none.
  /// - Returns: what comes of it once the controller's events are heard.
  private func make(_ address: DeviceAddress?, _ addresses: inout PrivateAddresses, at now: Instant)
    -> [PrivateAddresses.Action]
  {
    #expect(addresses.answered(RemoveAdvertising.opcode, at: now) == [.send(.prepareAdvertisement)])
    if let address {
      let command = LESetAdvertisingSetRandomAddress {
        $0.advertisingHandle = PrivateAddressMachine.advertisement
        $0.address = address.value
      }
      addresses.heard(CommandPacket(command))
    }
    #expect(addresses.answered(AddExtendedAdvertisingParameters.opcode, at: now) == [.send(.removeAdvertisement)])
    #expect(addresses.answered(RemoveAdvertising.opcode, at: now).isEmpty)
    #expect(addresses.deadline == now)
    return addresses.tick(rotation: rotation, at: now)
  }

  /// A controller that is used under the first address since time zero.
  private func used() -> PrivateAddresses {
    var addresses = PrivateAddresses()
    #expect(addresses.begin(profile(), isPrivate: true, at: .zero) == [.send(.removeAdvertisement)])
    #expect(make(first, &addresses, at: .zero) == [.made(first), .open(profile(), first)])
    return addresses
  }

  private func time(_ seconds: Int) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }

  @Test("A controller is opened under the address that the kernel made, which changes after the rotation and 2 s")
  func opened() {
    var addresses = used()
    #expect(addresses.deadline == time(902))
    #expect(addresses.tick(rotation: rotation, at: time(902)) == [.pauseIsDue])
  }

  @Test("Without privacy the kernel prepares one advertisement, under the address that the controller keeps")
  func notPrivate() {
    var addresses = PrivateAddresses()
    #expect(addresses.begin(profile(), isPrivate: false, at: .zero) == [.send(.removeAdvertisement)])
    #expect(make(nil, &addresses, at: .zero) == [.open(profile(), nil)])
    #expect(addresses.deadline == nil)
  }

  @Test("Without privacy and extended commands there is nothing to prepare")
  func legacyNotPrivate() {
    var addresses = PrivateAddresses()
    let legacy = profile(isExtended: false)
    #expect(addresses.begin(legacy, isPrivate: false, at: .zero) == [.open(legacy, nil)])
    #expect(addresses.deadline == nil)
  }

  @Test("Without an address the controller cannot be used")
  func none() {
    var addresses = PrivateAddresses()
    _ = addresses.begin(profile(), isPrivate: true, at: .zero)
    #expect(make(nil, &addresses, at: .zero) == [.made(nil), .failed])
    #expect(addresses.deadline == nil)
  }

  @Test("A controller that slept keeps its address if the kernel makes none; that is tried again in a minute")
  func slept() {
    var addresses = used()
    #expect(addresses.close(at: time(902)).isEmpty)
    #expect(addresses.deadline == nil)
    _ = addresses.begin(profile(), isPrivate: true, at: time(10))
    #expect(make(nil, &addresses, at: time(10)) == [.made(nil), .open(profile(), first)])
    #expect(addresses.deadline == time(70))
  }

  @Test("A controller that gets power anew has no earlier address")
  func power() {
    var addresses = used()
    #expect(addresses.close(at: time(902)).isEmpty)
    addresses.forget()
    _ = addresses.begin(profile(), isPrivate: true, at: .zero)
    #expect(make(nil, &addresses, at: .zero) == [.made(nil), .failed])
  }

  @Test("All pauses for the next address; ends of the scan and of advertisements are withheld until it goes on")
  func pause() {
    var addresses = used()
    #expect(addresses.withholds(.scanning(false)) == false)
    _ = addresses.tick(rotation: rotation, at: time(902))
    addresses.postpone(at: time(902))
    #expect(addresses.tick(rotation: rotation, at: time(903)) == [.pauseIsDue])
    addresses.pause(at: time(903))
    #expect(addresses.isPausing && addresses.deadline == time(908))
    for ended in [RadioAction.scanning(false), .advertising(set, .off)] {
      #expect(addresses.withholds(ended) == true)
    }
    for other in [RadioAction.scanning(true), .advertising(set, .on(interval: .seconds(1))), .quiet] {
      #expect(addresses.withholds(other) == false)
    }
    #expect(addresses.quiet(at: time(904)) == [.send(.removeAdvertisement)])
    #expect(addresses.deadline == time(914), "the kernel's time, not that of the pause")
    let actions = make(second, &addresses, at: time(905))
    #expect(actions == [.made(second), .resume(second, scanEnded: true, ended: [set])])
    #expect(!addresses.isPausing)
    #expect(addresses.withholds(.scanning(false)) == false)
    #expect(addresses.deadline == time(905 + 902))
  }

  @Test("A pause ends under the old address after five seconds without quiet, or if the kernel makes none")
  func noNextAddress() {
    var addresses = used()
    _ = addresses.tick(rotation: rotation, at: time(902))
    addresses.pause(at: time(902))
    let unchanged: [PrivateAddresses.Action] = [.made(nil), .resume(first, scanEnded: false, ended: [])]
    #expect(addresses.tick(rotation: rotation, at: time(907)) == unchanged)
    #expect(addresses.tick(rotation: rotation, at: time(967)) == [.pauseIsDue])
    addresses.pause(at: time(967))
    _ = addresses.quiet(at: time(967))
    #expect(make(nil, &addresses, at: time(968)) == unchanged)
  }

  @Test("With legacy commands the kernel's own 15 minutes must be over; without a rotation the address stays")
  func legacy() {
    for (rotation, deadline) in [(Duration.seconds(60), time(902)), (.seconds(1200), time(1202)), (nil, nil)] {
      var addresses = PrivateAddresses()
      #expect(addresses.begin(profile(isExtended: false), isPrivate: true, at: .zero) == [.send(.stopDiscovery)])
      _ = addresses.answered(StopDiscovery.opcode, at: .zero)
      addresses.heard(CommandPacket(LESetRandomAddress { $0.address = first.value }))
      _ = addresses.answered(StartDiscovery.opcode, at: .zero)
      _ = addresses.answered(StopDiscovery.opcode, at: .zero)
      #expect(
        addresses.tick(rotation: rotation, at: .zero) == [.made(first), .open(profile(isExtended: false), first)])
      #expect(addresses.deadline == deadline)
    }
  }

  @Test("The radio is closed in a pause: nothing is withheld, and no answer of the kernel counts")
  func closedInPause() {
    var addresses = used()
    _ = addresses.tick(rotation: rotation, at: time(902))
    addresses.pause(at: time(902))
    _ = addresses.quiet(at: time(902))
    #expect(addresses.close(at: time(902)).isEmpty)
    #expect(!addresses.isPausing)
    #expect(addresses.withholds(.scanning(false)) == false)
    #expect(addresses.answered(RemoveAdvertising.opcode, at: time(902)).isEmpty)
    #expect(addresses.deadline == nil)
  }
}
