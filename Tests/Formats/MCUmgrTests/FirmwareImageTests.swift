import Bluetooth
import BluetoothCrypto
import MCUmgr
import TestSupport
import Testing

/// Images as imgtool makes them, and damaged ones.
@Suite struct FirmwareImageTests {
  @Test("version, hash and signature")
  func image() throws {
    let octets = TestImage.octets(version: (1, 2, 3, 4), body: 100)
    let image = try FirmwareImage(octets)
    #expect("\(image.version)" == "1.2.3.4" && !image.isSigned && image.hash.count == 32)
    #expect(image.fileHash == SHA256.hash(octets) && image.fileHash != image.hash)
    let signed = try FirmwareImage(TestImage.octets(version: (9, 0, 0, 0), body: 10, protected: true, signed: true))
    #expect("\(signed.version)" == "9.0.0" && signed.isSigned)
  }

  @Test("an encrypted image, which was hashed before, and one with a longer hash are not compared")
  func notCompared() throws {
    let encrypted = try FirmwareImage(TestImage.octets(version: (1, 0, 0, 0), body: 100, signed: true, encrypted: true))
    #expect(encrypted.hash.count == 32 && encrypted.isSigned)
    let long = Array(repeating: UInt8(7), count: 64)
    #expect(try FirmwareImage(TestImage.octets(version: (1, 0, 0, 0), body: 100, hash: (0x12, long))).hash == long)
  }

  @Test("files that are no image, with the reason")
  func faults() {
    let good = TestImage.octets(version: (1, 0, 0, 0), body: 100)
    func reason(_ octets: [UInt8]) -> String {
      do throws(FirmwareImage.Fault) {
        _ = try FirmwareImage(octets)
        return "none"
      } catch {
        return error.description
      }
    }
    var damaged = good
    damaged[40] ^= 1
    #expect(reason(damaged).contains("its hash is not that of its contents"))
    var short = good
    short[8] = 31
    #expect(reason(short).contains("has at least 32"))
    var protected = TestImage.octets(version: (1, 0, 0, 0), body: 100, protected: true)
    protected[10] = 11
    #expect(reason(protected).contains("the protected part"))
    #expect(reason([]).contains("no image for MCUboot"))
    #expect(reason(Array(good[..<20])).contains("within its header"))
    #expect(reason(Array(good[..<100])).contains("cut off"))
    #expect(reason(Array(good[..<132])).contains("no trailer"))
    for length in 0..<good.count { #expect(reason(Array(good[..<length])) != "none") }
  }
}
