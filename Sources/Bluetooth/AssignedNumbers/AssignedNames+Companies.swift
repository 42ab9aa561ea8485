extension AssignedNames {
  /// Companies that are met often (Assigned Numbers, 7.1).
  package static let companies = table(
    """
    0000 Ericsson
    0001 Nokia Mobile Phones
    0002 Intel
    0003 IBM
    0004 Toshiba
    0006 Microsoft
    0008 Motorola
    0009 Infineon Technologies
    000A Qualcomm (QTIL)
    000D Texas Instruments
    000F Broadcom
    001D Qualcomm
    001F AVM Berlin
    0022 NEC
    0025 NXP
    0030 ST Microelectronics
    0046 MediaTek
    0047 Bluegiga
    0048 Marvell Technology Group
    004C Apple
    004E Avago Technologies
    0056 Sony Ericsson Mobile Communications
    0057 Harman International Industries
    0058 Vizio
    0059 Nordic Semiconductor
    005D Realtek Semiconductor
    0065 HP
    0068 General Motors
    006B Polar Electro
    0075 Samsung
    0078 Nike
    0087 Garmin
    0089 GN Hearing
    008A Jawbone
    0094 Airoha Technology
    009E Bose
    00C4 LG Electronics
    00CC Beats Electronics
    00CD Microchip Technology
    00D0 Dexcom
    00D2 Renesas Design Netherlands
    00D7 Qualcomm Technologies
    00DC Procter & Gamble
    00E0 Google
    00FE Stanley Black and Decker
    0103 Bang & Olufsen
    0107 Demant
    0118 Radius Networks
    011B Hewlett Packard Enterprise
    012D Sony
    0131 Cypress Semiconductor
    0157 Huami
    015D Estimote
    0171 Amazon
    0180 Gigaset Technologies
    01A9 Canon
    01AB Meta Platforms
    01D1 August Home
    01DA Logitech
    01DD Philips
    01F9 Medtronic
    020E Omron Healthcare
    022B Tesla
    027D Huawei
    02B2 Oura Health
    02D0 3M
    02E5 Espressif Systems (Shanghai)
    02F2 GoPro
    02FF Silicon Laboratories
    0304 Oura Health
    0334 Airthings
    0362 ON Semiconductor
    038F Xiaomi
    0399 Nikon
    03AB Meizu Technology
    03C1 Ember Technologies
    03DA EnOcean
    03FF Withings
    0499 Ruuvi
    04BA Crestron Electronics
    04D8 FUJIFILM
    04F7 Goodix
    055D Valve
    059D Tandem Diabetes Care
    05A7 Sonos
    05F1 The Linux Foundation
    0618 Audio-Technica
    067C Tile
    06D5 Sensirion
    07C4 Johnson Health Tech NA
    07D0 Tuya
    0822 Adafruit
    08C3 Chipolo
    0969 Woan Technology (Shenzhen)
    0BA9 Shelly (Allterco)
    FFFF None (for tests)
    """)
}
