import Bluetooth
import TestSupport
import Testing

@testable import NordicDFU

/// Packages of nrfutil 6.1.7 and of our own, and files that are none.
@Suite struct DFUPackageTests {
  /// `nrfutil pkg generate --hw-version 52 --application-version 3 --sd-req 0xFFFE --application app.bin`
  static let application = """
    504b030414000000000054627c5dfd1504de83000000830000000d0000006d616e69666573742e6a736f6e7b0a20202020226d616e696665\
    7374223a207b0a2020202020202020226170706c69636174696f6e223a207b0a2020202020202020202020202262696e5f66696c65223a20\
    226170702e62696e222c0a202020202020202020202020226461745f66696c65223a20226170702e646174220a20202020202020207d0a20\
    2020207d0a7d504b030414000000000054627c5d07574a748d0000008d000000070000006170702e646174128a010a440801124008031034\
    1a03feff0320002800300038ac02422408031220f58c2e6a15cd490ad5ccd2e4fdab863633201251f4b5ce1a2803e28bacb9ae4d48005204\
    0800120010001a404338023674ef0c31d22b0aa32420b2c3bf9dd9634d62c7201b033214b191d42d5cacf34db25351af89b3e56e4561ab9c\
    884cd0572c1a786335676fe85595bffb504b030414000000000054627c5d2333a0bb2c0100002c010000070000006170702e62696e414141\
    4141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141\
    4141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141\
    4141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141\
    4141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141\
    4141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141\
    4141414141414141414141414141414141504b0102140314000000000054627c5dfd1504de83000000830000000d00000000000000000000\
    00a481000000006d616e69666573742e6a736f6e504b0102140314000000000054627c5d07574a748d0000008d0000000700000000000000\
    00000000a481ae0000006170702e646174504b0102140314000000000054627c5d2333a0bb2c0100002c0100000700000000000000000000\
    00a481600100006170702e62696e504b05060000000003000300a5000000b10200000000
    """

  /// An init packet for a SoftDevice and a boot loader of 200 and 120 octets.
  static let systemPacket = """
    128f010a4908011245080210341a028002200328c80130783800422408031220edb97bcbaa41b5fff4d747b144c2aae54e072940890828\
    2ea936f06b288abd94480052040801120052040801120010001a40718fcecbff4026ff4f1a8b78dc6aa6a10c40fcb5afbe2931d104cf29\
    a140333b30abb118dfb9b595d201439dde01ec9a7793408c95c025c0fe8a701d47479e5e
    """

  @Test("a package of nrfutil")
  func nrfutil() throws {
    let package = try DFUPackage(try #require(Hex.decode(Self.application)))
    let image = try #require(package.images.first)
    #expect(package.images.count == 1 && image.name == "application")
    #expect(image.firmware == [UInt8](repeating: 0x41, count: 300) && image.packet.count == 141)
    let contents = try #require(image.contents)
    #expect(contents.firmwareVersion == 3 && contents.hardwareVersion == 52 && contents.kind == .application)
    #expect(contents.softDevices == [0xFFFE] && contents.length == 300 && contents.isSigned)
    #expect(contents.describes(image.firmware) && !contents.describes(image.firmware.reversed() + [0]))
    var other = image.firmware
    other[7] ^= 1
    #expect(!contents.describes(other), "the hash is compared")
  }

  @Test("the init packet of a SoftDevice with a boot loader")
  func system() throws {
    let octets = try #require(Hex.decode(Self.systemPacket))
    let contents = try #require(InitPacket(octets))
    #expect(contents.kind == .softDeviceAndBootLoader && contents.firmwareVersion == 2)
    #expect(contents.sizes == [200, 120, 0])
    let firmware = [UInt8](repeating: 0x53, count: 200) + [UInt8](repeating: 0x42, count: 120)
    #expect(contents.describes(firmware))
  }

  @Test("a SoftDevice with a boot loader comes before the application")
  func order() throws {
    let system = TestPackage.firmware(500)
    let application = TestPackage.firmware(300)
    let manifest = """
      {"manifest": {"application": {"bin_file": "a.bin", "dat_file": "a.dat"},
        "softdevice_bootloader": {"bin_file": "s.bin", "dat_file": "s.dat", "info_read_only_metadata": {"bl_size": 1}}}}
      """
    let octets = TestPackage.zip([
      ("a.bin", application), ("a.dat", TestPackage.packet(version: 2, application)), ("s.bin", system),
      ("s.dat", TestPackage.packet(version: 2, kind: 3, system)), ("manifest.json", Array(manifest.utf8)),
    ])
    #expect(try DFUPackage(octets).images.map(\.name) == ["softdevice_bootloader", "application"])
  }

  private func fault(_ octets: [UInt8]) -> String {
    do throws(DFUPackage.Fault) {
      _ = try DFUPackage(octets)
      return "none"
    } catch {
      return error.description
    }
  }

  private func package(_ application: String, _ files: [(String, [UInt8])] = []) -> [UInt8] {
    let manifest = "{\"manifest\": {\"application\": \(application)}}"
    return TestPackage.zip(
      [("manifest.json", Array(manifest.utf8)), ("b", [1]), ("d", [2]), ("none", [])] + files)
  }

  @Test("faults are reported with the file")
  func faults() throws {
    #expect(fault([]).contains("no zip archive"))
    #expect(fault(TestPackage.zip([("x", [1])])).contains("no file manifest.json"))
    #expect(fault(package("3")).contains("manifest.json:1:30"))
    #expect(fault(package("{}")).contains("no \"bin_file\" for the application"))
    #expect(fault(package(#"{"bin_file": "b"}"#)).contains("no \"dat_file\""))
    #expect(fault(package(#"{"bin_file": "b", "dat_file": "e"}"#)).contains("no file e"))
    #expect(fault(package(#"{"bin_file": "none", "dat_file": "d"}"#)).contains("is empty"))
    #expect(fault(package(#"{"bin_file": "b", "dat_file": "d"}"#)) == "none", "an init packet of an unknown form")
    let legacy = #"{"bin_file": "b", "dat_file": "d", "init_packet_data": {}}"#
    #expect(fault(package(legacy)).contains("legacy DFU"))
    let packet = TestPackage.packet(version: 1, [3])
    let other = package(#"{"bin_file": "b", "dat_file": "p"}"#, [("p", packet)])
    #expect(fault(other).contains("not the firmware that p describes"))
    #expect(fault(TestPackage.zip([("manifest.json", Array("{\"manifest\": {}}".utf8))])).contains("names no image"))
    let long = [UInt8](repeating: 0x20, count: 64 << 10 + 1)
    #expect(fault(TestPackage.zip([("manifest.json", long)])) == "manifest.json is longer than 64 KiB")
    let longPacket = package(#"{"bin_file": "b", "dat_file": "p"}"#, [("p", long)])
    #expect(fault(longPacket) == "p is longer than 64 KiB")
  }

  @Test("a package with any octet changed or missing is read, or refused")
  func damage() throws {
    let octets = TestPackage.octets(version: 1, length: 20)
    for place in octets.indices {
      #expect(fault(Array(octets[..<place])) != "none")
      var damaged = octets
      damaged[place] ^= 0xFF
      _ = fault(damaged)
    }
    #expect(fault(octets) == "none" && fault([0x50, 0x4B] + octets) != "none")
    #expect(fault(octets + Array("PK".utf8)).contains("no zip archive"))
  }
}
