import Beacons
import Bluetooth
import CoreBluetooth
import FrameworkSupport
import Noise

print(Device.service.uuidString, region.identifier, peer.displayName, Guarded().state.rawValue)
