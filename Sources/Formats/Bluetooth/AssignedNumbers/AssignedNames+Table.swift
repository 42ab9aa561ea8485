// Data: scripts/assigned-names adds lines and sorts them.
extension AssignedNames {
  /// Lines with a kind, a number in hexadecimal digits and a name, sorted by their octets.
  static let table = NameTable(
    """
    ad 01 Flags
    ad 02 Incomplete List of 16-bit Service UUIDs
    ad 03 Complete List of 16-bit Service UUIDs
    ad 04 Incomplete List of 32-bit Service UUIDs
    ad 05 Complete List of 32-bit Service UUIDs
    ad 06 Incomplete List of 128-bit Service UUIDs
    ad 07 Complete List of 128-bit Service UUIDs
    ad 08 Shortened Local Name
    ad 09 Complete Local Name
    ad 0A Tx Power Level
    ad 0D Class of Device
    ad 0E Simple Pairing Hash C-192
    ad 0F Simple Pairing Randomizer R-192
    ad 10 Security Manager TK Value
    ad 11 Security Manager Out of Band Flags
    ad 12 Peripheral Connection Interval Range
    ad 14 List of 16-bit Service Solicitation UUIDs
    ad 15 List of 128-bit Service Solicitation UUIDs
    ad 16 Service Data - 16-bit UUID
    ad 17 Public Target Address
    ad 18 Random Target Address
    ad 19 Appearance
    ad 1A Advertising Interval
    ad 1B LE Bluetooth Device Address
    ad 1C LE Role
    ad 1D Simple Pairing Hash C-256
    ad 1E Simple Pairing Randomizer R-256
    ad 1F List of 32-bit Service Solicitation UUIDs
    ad 20 Service Data - 32-bit UUID
    ad 21 Service Data - 128-bit UUID
    ad 22 LE Secure Connections Confirmation Value
    ad 23 LE Secure Connections Random Value
    ad 24 URI
    ad 25 Indoor Positioning
    ad 26 Transport Discovery Data
    ad 27 LE Supported Features
    ad 28 Channel Map Update Indication
    ad 29 PB-ADV
    ad 2A Mesh Message
    ad 2B Mesh Beacon
    ad 2C BIGInfo
    ad 2D Broadcast_Code
    ad 2E Resolvable Set Identifier
    ad 2F Advertising Interval - long
    ad 30 Broadcast_Name
    ad 31 Encrypted Advertising Data
    ad 32 Periodic Advertising Response Timing Information
    ad 34 Electronic Shelf Label
    ad 3D 3D Information Data
    ad FF Manufacturer Specific Data
    appearance 0000 Unknown
    appearance 0040 Phone
    appearance 0080 Computer
    appearance 0081 Desktop Workstation
    appearance 0082 Server-class Computer
    appearance 0083 Laptop
    appearance 0084 Handheld PC/PDA (clamshell)
    appearance 0085 Palm-size PC/PDA
    appearance 0086 Wearable computer (watch size)
    appearance 0087 Tablet
    appearance 0088 Docking Station
    appearance 0089 All in One
    appearance 008A Blade Server
    appearance 008B Convertible
    appearance 008C Detachable
    appearance 008D IoT Gateway
    appearance 008E Mini PC
    appearance 008F Stick PC
    appearance 00C0 Watch
    appearance 00C1 Sports Watch
    appearance 00C2 Smartwatch
    appearance 0100 Clock
    appearance 0140 Display
    appearance 0180 Remote Control
    appearance 01C0 Eye-glasses
    appearance 0200 Tag
    appearance 0240 Keyring
    appearance 0280 Media Player
    appearance 02C0 Barcode Scanner
    appearance 0300 Thermometer
    appearance 0301 Ear Thermometer
    appearance 0340 Heart Rate Sensor
    appearance 0341 Heart Rate Belt
    appearance 0380 Blood Pressure
    appearance 0381 Arm Blood Pressure
    appearance 0382 Wrist Blood Pressure
    appearance 03C0 Human Interface Device
    appearance 03C1 Keyboard
    appearance 03C2 Mouse
    appearance 03C3 Joystick
    appearance 03C4 Gamepad
    appearance 03C5 Digitizer Tablet
    appearance 03C6 Card Reader
    appearance 03C7 Digital Pen
    appearance 03C8 Barcode Scanner
    appearance 03C9 Touchpad
    appearance 03CA Presentation Remote
    appearance 0400 Glucose Meter
    appearance 0440 Running Walking Sensor
    appearance 0441 In-Shoe Running Walking Sensor
    appearance 0442 On-Shoe Running Walking Sensor
    appearance 0443 On-Hip Running Walking Sensor
    appearance 0480 Cycling
    appearance 0481 Cycling Computer
    appearance 0482 Speed Sensor
    appearance 0483 Cadence Sensor
    appearance 0484 Power Sensor
    appearance 0485 Speed and Cadence Sensor
    appearance 04C0 Control Device
    appearance 04C1 Switch
    appearance 04C2 Multi-switch
    appearance 04C3 Button
    appearance 04C4 Slider
    appearance 04C5 Rotary Switch
    appearance 04C6 Touch Panel
    appearance 04C7 Single Switch
    appearance 04C8 Double Switch
    appearance 04C9 Triple Switch
    appearance 04CA Battery Switch
    appearance 04CB Energy Harvesting Switch
    appearance 04CC Push Button
    appearance 04CD Dial
    appearance 0500 Network Device
    appearance 0501 Access Point
    appearance 0502 Mesh Device
    appearance 0503 Mesh Network Proxy
    appearance 0540 Sensor
    appearance 0541 Motion Sensor
    appearance 0542 Air quality Sensor
    appearance 0543 Temperature Sensor
    appearance 0544 Humidity Sensor
    appearance 0545 Leak Sensor
    appearance 0546 Smoke Sensor
    appearance 0547 Occupancy Sensor
    appearance 0548 Contact Sensor
    appearance 0549 Carbon Monoxide Sensor
    appearance 054A Carbon Dioxide Sensor
    appearance 054B Ambient Light Sensor
    appearance 054C Energy Sensor
    appearance 054D Color Light Sensor
    appearance 054E Rain Sensor
    appearance 054F Fire Sensor
    appearance 0550 Wind Sensor
    appearance 0551 Proximity Sensor
    appearance 0552 Multi-Sensor
    appearance 0553 Flush Mounted Sensor
    appearance 0554 Ceiling Mounted Sensor
    appearance 0555 Wall Mounted Sensor
    appearance 0556 Multisensor
    appearance 0557 Energy Meter
    appearance 0558 Flame Detector
    appearance 0559 Vehicle Tire Pressure Sensor
    appearance 0580 Light Fixtures
    appearance 0581 Wall Light
    appearance 0582 Ceiling Light
    appearance 0583 Floor Light
    appearance 0584 Cabinet Light
    appearance 0585 Desk Light
    appearance 0586 Troffer Light
    appearance 0587 Pendant Light
    appearance 0588 In-ground Light
    appearance 0589 Flood Light
    appearance 058A Underwater Light
    appearance 058B Bollard with Light
    appearance 058C Pathway Light
    appearance 058D Garden Light
    appearance 058E Pole-top Light
    appearance 058F Spotlight
    appearance 0590 Linear Light
    appearance 0591 Street Light
    appearance 0592 Shelves Light
    appearance 0593 Bay Light
    appearance 0594 Emergency Exit Light
    appearance 0595 Light Controller
    appearance 0596 Light Driver
    appearance 0597 Bulb
    appearance 0598 Low-bay Light
    appearance 0599 High-bay Light
    appearance 05C0 Fan
    appearance 05C1 Ceiling Fan
    appearance 05C2 Axial Fan
    appearance 05C3 Exhaust Fan
    appearance 05C4 Pedestal Fan
    appearance 05C5 Desk Fan
    appearance 05C6 Wall Fan
    appearance 0600 HVAC
    appearance 0601 Thermostat
    appearance 0602 Humidifier
    appearance 0603 De-humidifier
    appearance 0604 Heater
    appearance 0605 Radiator
    appearance 0606 Boiler
    appearance 0607 Heat Pump
    appearance 0608 Infrared Heater
    appearance 0609 Radiant Panel Heater
    appearance 060A Fan Heater
    appearance 060B Air Curtain
    appearance 0640 Air Conditioning
    appearance 0680 Humidifier
    appearance 06C0 Heating
    appearance 06C1 Radiator
    appearance 06C2 Boiler
    appearance 06C3 Heat Pump
    appearance 06C4 Infrared Heater
    appearance 06C5 Radiant Panel Heater
    appearance 06C6 Fan Heater
    appearance 06C7 Air Curtain
    appearance 0700 Access Control
    appearance 0701 Access Door
    appearance 0702 Garage Door
    appearance 0703 Emergency Exit Door
    appearance 0704 Access Lock
    appearance 0705 Elevator
    appearance 0706 Window
    appearance 0707 Entrance Gate
    appearance 0708 Door Lock
    appearance 0709 Locker
    appearance 0740 Motorized Device
    appearance 0741 Motorized Gate
    appearance 0742 Awning
    appearance 0743 Blinds or Shades
    appearance 0744 Curtains
    appearance 0745 Screen
    appearance 0780 Power Device
    appearance 0781 Power Outlet
    appearance 0782 Power Strip
    appearance 0783 Plug
    appearance 0784 Power Supply
    appearance 0785 LED Driver
    appearance 0786 Fluorescent Lamp Gear
    appearance 0787 HID Lamp Gear
    appearance 0788 Charge Case
    appearance 0789 Power Bank
    appearance 07C0 Light Source
    appearance 07C1 Incandescent Light Bulb
    appearance 07C2 LED Lamp
    appearance 07C3 HID Lamp
    appearance 07C4 Fluorescent Lamp
    appearance 07C5 LED Array
    appearance 07C6 Multi-Color LED Array
    appearance 07C7 Low voltage halogen
    appearance 07C8 Organic light emitting diode (OLED)
    appearance 0800 Window Covering
    appearance 0801 Window Shades
    appearance 0802 Window Blinds
    appearance 0803 Window Awning
    appearance 0804 Window Curtain
    appearance 0805 Exterior Shutter
    appearance 0806 Exterior Screen
    appearance 0840 Audio Sink
    appearance 0841 Standalone Speaker
    appearance 0842 Soundbar
    appearance 0843 Bookshelf Speaker
    appearance 0844 Standmounted Speaker
    appearance 0845 Speakerphone
    appearance 0880 Audio Source
    appearance 0881 Microphone
    appearance 0882 Alarm
    appearance 0883 Bell
    appearance 0884 Horn
    appearance 0885 Broadcasting Device
    appearance 0886 Service Desk
    appearance 0887 Kiosk
    appearance 0888 Broadcasting Room
    appearance 0889 Auditorium
    appearance 08C0 Motorized Vehicle
    appearance 08C1 Car
    appearance 08C2 Large Goods Vehicle
    appearance 08C3 2-Wheeled Vehicle
    appearance 08C4 Motorbike
    appearance 08C5 Scooter
    appearance 08C6 Moped
    appearance 08C7 3-Wheeled Vehicle
    appearance 08C8 Light Vehicle
    appearance 08C9 Quad Bike
    appearance 08CA Minibus
    appearance 08CB Bus
    appearance 08CC Trolley
    appearance 08CD Agricultural Vehicle
    appearance 08CE Camper / Caravan
    appearance 08CF Recreational Vehicle / Motor Home
    appearance 0900 Domestic Appliance
    appearance 0901 Refrigerator
    appearance 0902 Freezer
    appearance 0903 Oven
    appearance 0904 Microwave
    appearance 0905 Toaster
    appearance 0906 Washing Machine
    appearance 0907 Dryer
    appearance 0908 Coffee maker
    appearance 0909 Clothes iron
    appearance 090A Curling iron
    appearance 090B Hair dryer
    appearance 090C Vacuum cleaner
    appearance 090D Robotic vacuum cleaner
    appearance 090E Rice cooker
    appearance 090F Clothes steamer
    appearance 0940 Wearable Audio Device
    appearance 0941 Earbud
    appearance 0942 Headset
    appearance 0943 Headphones
    appearance 0944 Neck Band
    appearance 0980 Aircraft
    appearance 0981 Light Aircraft
    appearance 0982 Microlight
    appearance 0983 Paraglider
    appearance 0984 Large Passenger Aircraft
    appearance 09C0 AV Equipment
    appearance 09C1 Amplifier
    appearance 09C2 Receiver
    appearance 09C3 Radio
    appearance 09C4 Tuner
    appearance 09C5 Turntable
    appearance 09C6 CD Player
    appearance 09C7 DVD Player
    appearance 09C8 Bluray Player
    appearance 09C9 Optical Disc Player
    appearance 09CA Set-Top Box
    appearance 0A00 Display Equipment
    appearance 0A01 Television
    appearance 0A02 Monitor
    appearance 0A03 Projector
    appearance 0A40 Hearing aid
    appearance 0A41 In-ear hearing aid
    appearance 0A42 Behind-ear hearing aid
    appearance 0A43 Cochlear Implant
    appearance 0A80 Gaming
    appearance 0A81 Home Video Game Console
    appearance 0A82 Portable handheld console
    appearance 0AC0 Signage
    appearance 0AC1 Digital Signage
    appearance 0AC2 Electronic Label
    appearance 0C40 Pulse Oximeter
    appearance 0C41 Fingertip Pulse Oximeter
    appearance 0C42 Wrist Worn Pulse Oximeter
    appearance 0C80 Weight Scale
    appearance 0CC0 Personal Mobility Device
    appearance 0CC1 Powered Wheelchair
    appearance 0CC2 Mobility Scooter
    appearance 0D00 Continuous Glucose Monitor
    appearance 0D40 Insulin Pump
    appearance 0D41 Insulin Pump, durable pump
    appearance 0D44 Insulin Pump, patch pump
    appearance 0D48 Insulin Pen
    appearance 0D80 Medication Delivery
    appearance 0DC0 Spirometer
    appearance 0DC1 Handheld Spirometer
    appearance 1440 Outdoor Sports Activity
    appearance 1441 Location Display
    appearance 1442 Location and Navigation Display
    appearance 1443 Location Pod
    appearance 1444 Location and Navigation Pod
    company 0000 Ericsson
    company 0001 Nokia Mobile Phones
    company 0002 Intel
    company 0003 IBM
    company 0004 Toshiba
    company 0006 Microsoft
    company 0008 Motorola
    company 0009 Infineon Technologies
    company 000A Qualcomm (QTIL)
    company 000D Texas Instruments
    company 000F Broadcom
    company 001D Qualcomm
    company 001F AVM Berlin
    company 0022 NEC
    company 0025 NXP
    company 0030 ST Microelectronics
    company 0046 MediaTek
    company 0047 Bluegiga
    company 0048 Marvell Technology Group
    company 004C Apple
    company 004E Avago Technologies
    company 0056 Sony Ericsson Mobile Communications
    company 0057 Harman International Industries
    company 0058 Vizio
    company 0059 Nordic Semiconductor
    company 005D Realtek Semiconductor
    company 0065 HP
    company 0068 General Motors
    company 006B Polar Electro
    company 0075 Samsung
    company 0078 Nike
    company 0087 Garmin
    company 0089 GN Hearing
    company 008A Jawbone
    company 0094 Airoha Technology
    company 009E Bose
    company 00C4 LG Electronics
    company 00CC Beats Electronics
    company 00CD Microchip Technology
    company 00D0 Dexcom
    company 00D2 Renesas Design Netherlands
    company 00D7 Qualcomm Technologies
    company 00DC Procter & Gamble
    company 00E0 Google
    company 00FE Stanley Black and Decker
    company 0103 Bang & Olufsen
    company 0107 Demant
    company 0118 Radius Networks
    company 011B Hewlett Packard Enterprise
    company 012D Sony
    company 0131 Cypress Semiconductor
    company 0157 Huami
    company 015D Estimote
    company 0171 Amazon
    company 0180 Gigaset Technologies
    company 01A9 Canon
    company 01AB Meta Platforms
    company 01D1 August Home
    company 01DA Logitech
    company 01DD Philips
    company 01F9 Medtronic
    company 020E Omron Healthcare
    company 022B Tesla
    company 027D Huawei
    company 02B2 Oura Health
    company 02D0 3M
    company 02E5 Espressif Systems (Shanghai)
    company 02F2 GoPro
    company 02FF Silicon Laboratories
    company 0304 Oura Health
    company 0334 Airthings
    company 0362 ON Semiconductor
    company 038F Xiaomi
    company 0399 Nikon
    company 03AB Meizu Technology
    company 03C1 Ember Technologies
    company 03DA EnOcean
    company 03FF Withings
    company 0499 Ruuvi
    company 04BA Crestron Electronics
    company 04D8 FUJIFILM
    company 04F7 Goodix
    company 055D Valve
    company 059D Tandem Diabetes Care
    company 05A7 Sonos
    company 05F1 The Linux Foundation
    company 0618 Audio-Technica
    company 067C Tile
    company 06D5 Sensirion
    company 07C4 Johnson Health Tech NA
    company 07D0 Tuya
    company 0822 Adafruit
    company 08C3 Chipolo
    company 0969 Woan Technology (Shenzhen)
    company 0BA9 Shelly (Allterco)
    company FFFF None (for tests)
    unit 2700 1
    unit 2701 m
    unit 2702 kg
    unit 2703 s
    unit 2704 A
    unit 2705 K
    unit 2706 mol
    unit 2707 cd
    unit 2710 m²
    unit 2711 m³
    unit 2712 m/s
    unit 2713 m/s²
    unit 2720 rad
    unit 2722 Hz
    unit 2723 N
    unit 2724 Pa
    unit 2725 J
    unit 2726 W
    unit 2727 C
    unit 2728 V
    unit 2729 F
    unit 272A Ω
    unit 272B S
    unit 272D T
    unit 272F °C
    unit 2730 lm
    unit 2731 lx
    unit 2733 Gy
    unit 2734 Sv
    unit 2743 rad/s
    unit 2760 min
    unit 2761 h
    unit 2762 d
    unit 2763 °
    unit 2767 l
    unit 2780 bar
    unit 2781 mmHg
    unit 27A0 yd
    unit 27A2 in
    unit 27A3 ft
    unit 27A4 mi
    unit 27A6 km/h
    unit 27A7 mph
    unit 27A8 rpm
    unit 27A9 cal
    unit 27AB kWh
    unit 27AC °F
    unit 27AD %
    unit 27AE ‰
    unit 27AF bpm
    unit 27B0 Ah
    unit 27B1 mg/dl
    unit 27B2 mmol/l
    unit 27B3 a
    unit 27B6 W/m²
    unit 27B8 lb
    unit 27C4 ppm
    unit 27C5 ppb
    uuid 00001523-1212-EFDE-1523-785FEABCD123 Nordic LED Button
    uuid 00001524-1212-EFDE-1523-785FEABCD123 Nordic Button State
    uuid 00001525-1212-EFDE-1523-785FEABCD123 Nordic LED State
    uuid 00001530-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU
    uuid 00001531-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU Control Point
    uuid 00001532-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU Packet
    uuid 00001534-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU Version
    uuid 00467768-6228-2272-4663-277478268000 Improv Wi-Fi
    uuid 00467768-6228-2272-4663-277478268001 Improv Current State
    uuid 00467768-6228-2272-4663-277478268002 Improv Error State
    uuid 00467768-6228-2272-4663-277478268003 Improv RPC Command
    uuid 00467768-6228-2272-4663-277478268004 Improv RPC Result
    uuid 00467768-6228-2272-4663-277478268005 Improv Capabilities
    uuid 1800 Generic Access
    uuid 1801 Generic Attribute
    uuid 1802 Immediate Alert
    uuid 1803 Link Loss
    uuid 1804 Tx Power
    uuid 1805 Current Time
    uuid 1806 Reference Time Update
    uuid 1807 Next DST Change
    uuid 1808 Glucose
    uuid 1809 Health Thermometer
    uuid 180A Device Information
    uuid 180D Heart Rate
    uuid 180E Phone Alert Status
    uuid 180F Battery
    uuid 1810 Blood Pressure
    uuid 1811 Alert Notification
    uuid 1812 Human Interface Device
    uuid 1813 Scan Parameters
    uuid 1814 Running Speed and Cadence
    uuid 1815 Automation IO
    uuid 1816 Cycling Speed and Cadence
    uuid 1818 Cycling Power
    uuid 1819 Location and Navigation
    uuid 181A Environmental Sensing
    uuid 181B Body Composition
    uuid 181C User Data
    uuid 181D Weight Scale
    uuid 181E Bond Management
    uuid 181F Continuous Glucose Monitoring
    uuid 1820 Internet Protocol Support
    uuid 1821 Indoor Positioning
    uuid 1822 Pulse Oximeter
    uuid 1823 HTTP Proxy
    uuid 1824 Transport Discovery
    uuid 1825 Object Transfer
    uuid 1826 Fitness Machine
    uuid 1827 Mesh Provisioning
    uuid 1828 Mesh Proxy
    uuid 1829 Reconnection Configuration
    uuid 183A Insulin Delivery
    uuid 183B Binary Sensor
    uuid 183C Emergency Configuration
    uuid 183E Physical Activity Monitor
    uuid 1843 Audio Input Control
    uuid 1844 Volume Control
    uuid 1845 Volume Offset Control
    uuid 1846 Coordinated Set Identification
    uuid 1847 Device Time
    uuid 1848 Media Control
    uuid 1849 Generic Media Control
    uuid 184A Constant Tone Extension
    uuid 184B Telephone Bearer
    uuid 184C Generic Telephone Bearer
    uuid 184D Microphone Control
    uuid 184E Audio Stream Control
    uuid 184F Broadcast Audio Scan
    uuid 1850 Published Audio Capabilities
    uuid 1851 Basic Audio Announcement
    uuid 1852 Broadcast Audio Announcement
    uuid 1853 Common Audio
    uuid 1854 Hearing Access
    uuid 1855 Telephony and Media Audio
    uuid 1856 Public Broadcast Announcement
    uuid 1857 Electronic Shelf Label
    uuid 1858 Gaming Audio
    uuid 1859 Mesh Proxy Solicitation
    uuid 22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB Apple Notification Data Source
    uuid 2800 Primary Service
    uuid 2801 Secondary Service
    uuid 2802 Include
    uuid 2803 Characteristic
    uuid 2900 Characteristic Extended Properties
    uuid 2901 Characteristic User Description
    uuid 2902 Client Characteristic Configuration
    uuid 2903 Server Characteristic Configuration
    uuid 2904 Characteristic Presentation Format
    uuid 2905 Characteristic Aggregate Format
    uuid 2906 Valid Range
    uuid 2907 External Report Reference
    uuid 2908 Report Reference
    uuid 2909 Number of Digitals
    uuid 290A Value Trigger Setting
    uuid 290B Environmental Sensing Configuration
    uuid 290C Environmental Sensing Measurement
    uuid 290D Environmental Sensing Trigger Setting
    uuid 290E Time Trigger Setting
    uuid 290F Complete BR-EDR Transport Block Data
    uuid 2910 Observation Schedule
    uuid 2911 Valid Range and Accuracy
    uuid 2A00 Device Name
    uuid 2A01 Appearance
    uuid 2A02 Peripheral Privacy Flag
    uuid 2A03 Reconnection Address
    uuid 2A04 Peripheral Preferred Connection Parameters
    uuid 2A05 Service Changed
    uuid 2A06 Alert Level
    uuid 2A07 Tx Power Level
    uuid 2A08 Date Time
    uuid 2A09 Day of Week
    uuid 2A0A Day Date Time
    uuid 2A0B Exact Time 100
    uuid 2A0C Exact Time 256
    uuid 2A0D DST Offset
    uuid 2A0E Time Zone
    uuid 2A0F Local Time Information
    uuid 2A10 Secondary Time Zone
    uuid 2A11 Time with DST
    uuid 2A12 Time Accuracy
    uuid 2A13 Time Source
    uuid 2A14 Reference Time Information
    uuid 2A15 Time Broadcast
    uuid 2A16 Time Update Control Point
    uuid 2A17 Time Update State
    uuid 2A18 Glucose Measurement
    uuid 2A19 Battery Level
    uuid 2A1A Battery Power State
    uuid 2A1B Battery Level State
    uuid 2A1C Temperature Measurement
    uuid 2A1D Temperature Type
    uuid 2A1E Intermediate Temperature
    uuid 2A1F Temperature Celsius
    uuid 2A20 Temperature Fahrenheit
    uuid 2A21 Measurement Interval
    uuid 2A22 Boot Keyboard Input Report
    uuid 2A23 System ID
    uuid 2A24 Model Number String
    uuid 2A25 Serial Number String
    uuid 2A26 Firmware Revision String
    uuid 2A27 Hardware Revision String
    uuid 2A28 Software Revision String
    uuid 2A29 Manufacturer Name String
    uuid 2A2A IEEE 11073-20601 Regulatory Certification Data List
    uuid 2A2B Current Time
    uuid 2A2C Magnetic Declination
    uuid 2A2F Position 2D
    uuid 2A30 Position 3D
    uuid 2A31 Scan Refresh
    uuid 2A32 Boot Keyboard Output Report
    uuid 2A33 Boot Mouse Input Report
    uuid 2A34 Glucose Measurement Context
    uuid 2A35 Blood Pressure Measurement
    uuid 2A36 Intermediate Cuff Pressure
    uuid 2A37 Heart Rate Measurement
    uuid 2A38 Body Sensor Location
    uuid 2A39 Heart Rate Control Point
    uuid 2A3A Removable
    uuid 2A3B Service Required
    uuid 2A3C Scientific Temperature Celsius
    uuid 2A3D String
    uuid 2A3E Network Availability
    uuid 2A3F Alert Status
    uuid 2A40 Ringer Control Point
    uuid 2A41 Ringer Setting
    uuid 2A42 Alert Category ID Bit Mask
    uuid 2A43 Alert Category ID
    uuid 2A44 Alert Notification Control Point
    uuid 2A45 Unread Alert Status
    uuid 2A46 New Alert
    uuid 2A47 Supported New Alert Category
    uuid 2A48 Supported Unread Alert Category
    uuid 2A49 Blood Pressure Feature
    uuid 2A4A HID Information
    uuid 2A4B Report Map
    uuid 2A4C HID Control Point
    uuid 2A4D Report
    uuid 2A4E Protocol Mode
    uuid 2A4F Scan Interval Window
    uuid 2A50 PnP ID
    uuid 2A51 Glucose Feature
    uuid 2A52 Record Access Control Point
    uuid 2A53 RSC Measurement
    uuid 2A54 RSC Feature
    uuid 2A55 SC Control Point
    uuid 2A56 Digital
    uuid 2A57 Digital Output
    uuid 2A58 Analog
    uuid 2A59 Analog Output
    uuid 2A5A Aggregate
    uuid 2A5B CSC Measurement
    uuid 2A5C CSC Feature
    uuid 2A5D Sensor Location
    uuid 2A5E PLX Spot-Check Measurement
    uuid 2A5F PLX Continuous Measurement
    uuid 2A60 PLX Features
    uuid 2A62 Pulse Oximetry Control Point
    uuid 2A63 Cycling Power Measurement
    uuid 2A64 Cycling Power Vector
    uuid 2A65 Cycling Power Feature
    uuid 2A66 Cycling Power Control Point
    uuid 2A67 Location and Speed
    uuid 2A68 Navigation
    uuid 2A69 Position Quality
    uuid 2A6A LN Feature
    uuid 2A6B LN Control Point
    uuid 2A6C Elevation
    uuid 2A6D Pressure
    uuid 2A6E Temperature
    uuid 2A6F Humidity
    uuid 2A70 True Wind Speed
    uuid 2A71 True Wind Direction
    uuid 2A72 Apparent Wind Speed
    uuid 2A73 Apparent Wind Direction
    uuid 2A74 Gust Factor
    uuid 2A75 Pollen Concentration
    uuid 2A76 UV Index
    uuid 2A77 Irradiance
    uuid 2A78 Rainfall
    uuid 2A79 Wind Chill
    uuid 2A7A Heat Index
    uuid 2A7B Dew Point
    uuid 2A7D Descriptor Value Changed
    uuid 2A7E Aerobic Heart Rate Lower Limit
    uuid 2A7F Aerobic Threshold
    uuid 2A80 Age
    uuid 2A81 Anaerobic Heart Rate Lower Limit
    uuid 2A82 Anaerobic Heart Rate Upper Limit
    uuid 2A83 Anaerobic Threshold
    uuid 2A84 Aerobic Heart Rate Upper Limit
    uuid 2A85 Date of Birth
    uuid 2A86 Date of Threshold Assessment
    uuid 2A87 Email Address
    uuid 2A88 Fat Burn Heart Rate Lower Limit
    uuid 2A89 Fat Burn Heart Rate Upper Limit
    uuid 2A8A First Name
    uuid 2A8B Five Zone Heart Rate Limits
    uuid 2A8C Gender
    uuid 2A8D Heart Rate Max
    uuid 2A8E Height
    uuid 2A8F Hip Circumference
    uuid 2A90 Last Name
    uuid 2A91 Maximum Recommended Heart Rate
    uuid 2A92 Resting Heart Rate
    uuid 2A93 Sport Type for Aerobic and Anaerobic Thresholds
    uuid 2A94 Three Zone Heart Rate Limits
    uuid 2A95 Two Zone Heart Rate Limit
    uuid 2A96 VO2 Max
    uuid 2A97 Waist Circumference
    uuid 2A98 Weight
    uuid 2A99 Database Change Increment
    uuid 2A9A User Index
    uuid 2A9B Body Composition Feature
    uuid 2A9C Body Composition Measurement
    uuid 2A9D Weight Measurement
    uuid 2A9E Weight Scale Feature
    uuid 2A9F User Control Point
    uuid 2AA0 Magnetic Flux Density - 2D
    uuid 2AA1 Magnetic Flux Density - 3D
    uuid 2AA2 Language
    uuid 2AA3 Barometric Pressure Trend
    uuid 2AA4 Bond Management Control Point
    uuid 2AA5 Bond Management Features
    uuid 2AA6 Central Address Resolution
    uuid 2AA7 CGM Measurement
    uuid 2AA8 CGM Feature
    uuid 2AA9 CGM Status
    uuid 2AAA CGM Session Start Time
    uuid 2AAB CGM Session Run Time
    uuid 2AAC CGM Specific Ops Control Point
    uuid 2AAD Indoor Positioning Configuration
    uuid 2AAE Latitude
    uuid 2AAF Longitude
    uuid 2AB0 Local North Coordinate
    uuid 2AB1 Local East Coordinate
    uuid 2AB2 Floor Number
    uuid 2AB3 Altitude
    uuid 2AB4 Uncertainty
    uuid 2AB5 Location Name
    uuid 2AB6 URI
    uuid 2AB7 HTTP Headers
    uuid 2AB8 HTTP Status Code
    uuid 2AB9 HTTP Entity Body
    uuid 2ABA HTTP Control Point
    uuid 2ABB HTTPS Security
    uuid 2ABC TDS Control Point
    uuid 2ABD OTS Feature
    uuid 2ABE Object Name
    uuid 2ABF Object Type
    uuid 2AC0 Object Size
    uuid 2AC1 Object First-Created
    uuid 2AC2 Object Last-Modified
    uuid 2AC3 Object ID
    uuid 2AC4 Object Properties
    uuid 2AC5 Object Action Control Point
    uuid 2AC6 Object List Control Point
    uuid 2AC7 Object List Filter
    uuid 2AC8 Object Changed
    uuid 2AC9 Resolvable Private Address Only
    uuid 2ACC Fitness Machine Feature
    uuid 2ACD Treadmill Data
    uuid 2ACE Cross Trainer Data
    uuid 2ACF Step Climber Data
    uuid 2AD0 Stair Climber Data
    uuid 2AD1 Rower Data
    uuid 2AD2 Indoor Bike Data
    uuid 2AD3 Training Status
    uuid 2AD4 Supported Speed Range
    uuid 2AD5 Supported Inclination Range
    uuid 2AD6 Supported Resistance Level Range
    uuid 2AD7 Supported Heart Rate Range
    uuid 2AD8 Supported Power Range
    uuid 2AD9 Fitness Machine Control Point
    uuid 2ADA Fitness Machine Status
    uuid 2ADB Mesh Provisioning Data In
    uuid 2ADC Mesh Provisioning Data Out
    uuid 2ADD Mesh Proxy Data In
    uuid 2ADE Mesh Proxy Data Out
    uuid 2AE0 Average Current
    uuid 2AE1 Average Voltage
    uuid 2AE2 Boolean
    uuid 2AE3 Chromatic Distance From Planckian
    uuid 2AE4 Chromaticity Coordinates
    uuid 2AE5 Chromaticity In CCT And Duv Values
    uuid 2AE6 Chromaticity Tolerance
    uuid 2AE7 CIE 13.3-1995 Color Rendering Index
    uuid 2AE8 Coefficient
    uuid 2AE9 Correlated Color Temperature
    uuid 2AEA Count 16
    uuid 2AEB Count 24
    uuid 2AEC Country Code
    uuid 2AED Date UTC
    uuid 2AEE Electric Current
    uuid 2AEF Electric Current Range
    uuid 2AF0 Electric Current Specification
    uuid 2AF1 Electric Current Statistics
    uuid 2AF2 Energy
    uuid 2AF3 Energy In A Period Of Day
    uuid 2AF4 Event Statistics
    uuid 2AF5 Fixed String 16
    uuid 2AF6 Fixed String 24
    uuid 2AF7 Fixed String 36
    uuid 2AF8 Fixed String 8
    uuid 2AF9 Generic Level
    uuid 2AFA Global Trade Item Number
    uuid 2AFB Illuminance
    uuid 2AFC Luminous Efficacy
    uuid 2AFD Luminous Energy
    uuid 2AFE Luminous Exposure
    uuid 2AFF Luminous Flux
    uuid 2B00 Luminous Flux Range
    uuid 2B01 Luminous Intensity
    uuid 2B02 Mass Flow
    uuid 2B03 Perceived Lightness
    uuid 2B04 Percentage 8
    uuid 2B05 Power
    uuid 2B06 Power Specification
    uuid 2B07 Relative Runtime In A Current Range
    uuid 2B08 Relative Runtime In A Generic Level Range
    uuid 2B09 Relative Value In A Voltage Range
    uuid 2B0A Relative Value In An Illuminance Range
    uuid 2B0B Relative Value In A Period Of Day
    uuid 2B0C Relative Value In A Temperature Range
    uuid 2B0D Temperature 8
    uuid 2B0E Temperature 8 In A Period Of Day
    uuid 2B0F Temperature 8 Statistics
    uuid 2B10 Temperature Range
    uuid 2B11 Temperature Statistics
    uuid 2B12 Time Decihour 8
    uuid 2B13 Time Exponential 8
    uuid 2B14 Time Hour 24
    uuid 2B15 Time Millisecond 24
    uuid 2B16 Time Second 16
    uuid 2B17 Time Second 8
    uuid 2B18 Voltage
    uuid 2B19 Voltage Specification
    uuid 2B1A Voltage Statistics
    uuid 2B1B Volume Flow
    uuid 2B1C Chromaticity Coordinate
    uuid 2B1D RC Feature
    uuid 2B1E RC Settings
    uuid 2B1F Reconnection Configuration Control Point
    uuid 2B20 IDD Status Changed
    uuid 2B21 IDD Status
    uuid 2B22 IDD Annunciation Status
    uuid 2B23 IDD Features
    uuid 2B24 IDD Status Reader Control Point
    uuid 2B25 IDD Command Control Point
    uuid 2B26 IDD Command Data
    uuid 2B27 IDD Record Access Control Point
    uuid 2B28 IDD History Data
    uuid 2B29 Client Supported Features
    uuid 2B2A Database Hash
    uuid 2B2B BSS Control Point
    uuid 2B2C BSS Response
    uuid 2B2D Emergency ID
    uuid 2B2E Emergency Text
    uuid 2B34 Enhanced Blood Pressure Measurement
    uuid 2B35 Enhanced Intermediate Cuff Pressure
    uuid 2B36 Blood Pressure Record
    uuid 2B38 BR-EDR Handover Data
    uuid 2B39 Bluetooth SIG Data
    uuid 2B3A Server Supported Features
    uuid 2B3B Physical Activity Monitor Features
    uuid 2B3C General Activity Instantaneous Data
    uuid 2B3D General Activity Summary Data
    uuid 2B3E CardioRespiratory Activity Instantaneous Data
    uuid 2B3F CardioRespiratory Activity Summary Data
    uuid 2B40 Step Counter Activity Summary Data
    uuid 2B41 Sleep Activity Instantaneous Data
    uuid 2B42 Sleep Activity Summary Data
    uuid 2B43 Physical Activity Monitor Control Point
    uuid 2B44 Activity Current Session
    uuid 2B45 Physical Activity Session Descriptor
    uuid 2B46 Preferred Units
    uuid 2B47 High Resolution Height
    uuid 2B48 Middle Name
    uuid 2B49 Stride Length
    uuid 2B4A Handedness
    uuid 2B4B Device Wearing Position
    uuid 2B4C Four Zone Heart Rate Limits
    uuid 2B4D High Intensity Exercise Threshold
    uuid 2B4E Activity Goal
    uuid 2B4F Sedentary Interval Notification
    uuid 2B50 Caloric Intake
    uuid 2B51 TMAP Role
    uuid 2B77 Audio Input State
    uuid 2B78 Gain Settings Attribute
    uuid 2B79 Audio Input Type
    uuid 2B7A Audio Input Status
    uuid 2B7B Audio Input Control Point
    uuid 2B7C Audio Input Description
    uuid 2B7D Volume State
    uuid 2B7E Volume Control Point
    uuid 2B7F Volume Flags
    uuid 2B80 Volume Offset State
    uuid 2B81 Audio Location
    uuid 2B82 Volume Offset Control Point
    uuid 2B83 Audio Output Description
    uuid 2B84 Set Identity Resolving Key
    uuid 2B85 Coordinated Set Size
    uuid 2B86 Set Member Lock
    uuid 2B87 Set Member Rank
    uuid 2B8C Carbon Dioxide Concentration
    uuid 2B8E Device Time Feature
    uuid 2B8F Device Time Parameters
    uuid 2B90 Device Time
    uuid 2B91 Device Time Control Point
    uuid 2B92 Time Change Log Data
    uuid 2B93 Media Player Name
    uuid 2B94 Media Player Icon Object ID
    uuid 2B95 Media Player Icon URL
    uuid 2B96 Track Changed
    uuid 2B97 Track Title
    uuid 2B98 Track Duration
    uuid 2B99 Track Position
    uuid 2B9A Playback Speed
    uuid 2B9B Seeking Speed
    uuid 2B9C Current Track Segments Object ID
    uuid 2B9D Current Track Object ID
    uuid 2B9E Next Track Object ID
    uuid 2B9F Parent Group Object ID
    uuid 2BA0 Current Group Object ID
    uuid 2BA1 Playing Order
    uuid 2BA2 Playing Orders Supported
    uuid 2BA3 Media State
    uuid 2BA4 Media Control Point
    uuid 2BA5 Media Control Point Opcodes Supported
    uuid 2BA6 Search Results Object ID
    uuid 2BA7 Search Control Point
    uuid 2BA9 Media Player Icon Object Type
    uuid 2BAA Track Segments Object Type
    uuid 2BAB Track Object Type
    uuid 2BAC Group Object Type
    uuid 2BAD Constant Tone Extension Enable
    uuid 2BAE Advertising Constant Tone Extension Minimum Length
    uuid 2BAF Advertising Constant Tone Extension Minimum Transmit Count
    uuid 2BB0 Advertising Constant Tone Extension Transmit Duration
    uuid 2BB1 Advertising Constant Tone Extension Interval
    uuid 2BB2 Advertising Constant Tone Extension PHY
    uuid 2BB3 Bearer Provider Name
    uuid 2BB4 Bearer UCI
    uuid 2BB5 Bearer Technology
    uuid 2BB6 Bearer URI Schemes Supported List
    uuid 2BB7 Bearer Signal Strength
    uuid 2BB8 Bearer Signal Strength Reporting Interval
    uuid 2BB9 Bearer List Current Calls
    uuid 2BBA Content Control ID
    uuid 2BBB Status Flags
    uuid 2BBC Incoming Call Target Bearer URI
    uuid 2BBD Call State
    uuid 2BBE Call Control Point
    uuid 2BBF Call Control Point Optional Opcodes
    uuid 2BC0 Termination Reason
    uuid 2BC1 Incoming Call
    uuid 2BC2 Call Friendly Name
    uuid 2BC3 Mute
    uuid 2BC4 Sink ASE
    uuid 2BC5 Source ASE
    uuid 2BC6 ASE Control Point
    uuid 2BC7 Broadcast Audio Scan Control Point
    uuid 2BC8 Broadcast Receive State
    uuid 2BC9 Sink PAC
    uuid 2BCA Sink Audio Locations
    uuid 2BCB Source PAC
    uuid 2BCC Source Audio Locations
    uuid 2BCD Available Audio Contexts
    uuid 2BCE Supported Audio Contexts
    uuid 2BCF Ammonia Concentration
    uuid 2BD0 Carbon Monoxide Concentration
    uuid 2BD1 Methane Concentration
    uuid 2BD2 Nitrogen Dioxide Concentration
    uuid 2BD3 Non-Methane Volatile Organic Compounds Concentration
    uuid 2BD4 Ozone Concentration
    uuid 2BD5 Particulate Matter - PM1 Concentration
    uuid 2BD6 Particulate Matter - PM2.5 Concentration
    uuid 2BD7 Particulate Matter - PM10 Concentration
    uuid 2BD8 Sulfur Dioxide Concentration
    uuid 2BD9 Sulfur Hexafluoride Concentration
    uuid 2BDA Hearing Aid Features
    uuid 2BDB Hearing Aid Preset Control Point
    uuid 2BDC Active Preset Index
    uuid 2BDD Stored Health Observations
    uuid 2BDE Fixed String 64
    uuid 2BDF High Temperature
    uuid 2BE0 High Voltage
    uuid 2BE1 Light Distribution
    uuid 2BE2 Light Output
    uuid 2BE3 Light Source Type
    uuid 2BE4 Noise
    uuid 2BE5 Relative Runtime in a Correlated Color Temperature Range
    uuid 2BE6 Time Second 32
    uuid 2BE7 VOC Concentration
    uuid 2BE8 Voltage Frequency
    uuid 2BE9 Battery Critical Status
    uuid 2BEA Battery Health Status
    uuid 2BEB Battery Health Information
    uuid 2BEC Battery Information
    uuid 2BED Battery Level Status
    uuid 2BEE Battery Time Status
    uuid 2BEF Estimated Service Date
    uuid 2BF0 Battery Energy Status
    uuid 2BF1 Observation Schedule Changed
    uuid 2BF2 Current Elapsed Time
    uuid 2BF3 Health Sensor Features
    uuid 2BF4 GHS Control Point
    uuid 2BF5 LE GATT Security Levels
    uuid 2BF6 ESL Address
    uuid 2BF7 AP Sync Key Material
    uuid 2BF8 ESL Response Key Material
    uuid 2BF9 ESL Current Absolute Time
    uuid 2BFA ESL Display Information
    uuid 2BFB ESL Image Information
    uuid 2BFC ESL Sensor Information
    uuid 2BFD ESL LED Information
    uuid 2BFE ESL Control Point
    uuid 2BFF UDI for Medical Devices
    uuid 2C00 GMAP Role
    uuid 2C01 UGG Features
    uuid 2C02 UGT Features
    uuid 2C03 BGS Features
    uuid 2C04 BGR Features
    uuid 2C05 Percentage 8 Steps
    uuid 2F7CABCE-808D-411F-9A0C-BB92BA96C102 Apple Media Entity Update
    uuid 49535343-1E4D-4BD9-BA61-23C647249616 Microchip Transparent UART TX
    uuid 49535343-8841-43F4-A8D4-ECBE34729BB3 Microchip Transparent UART RX
    uuid 49535343-FE7D-4AE5-8FA9-9FAFD205E455 Microchip Transparent UART
    uuid 69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9 Apple Notification Control Point
    uuid 6E400001-B5A3-F393-E0A9-E50E24DCCA9E Nordic UART
    uuid 6E400002-B5A3-F393-E0A9-E50E24DCCA9E Nordic UART RX
    uuid 6E400003-B5A3-F393-E0A9-E50E24DCCA9E Nordic UART TX
    uuid 7905F431-B5CE-4E99-A40F-4B1E122D00D0 Apple Notification Center
    uuid 89D3502B-0F36-433A-8EF4-C502AD55F8DC Apple Media
    uuid 8D53DC1D-1DB7-4CD3-868B-8A527460AA84 MCUmgr SMP
    uuid 8E400001-F315-4F60-9FB8-838830DAEA50 Nordic Experimental Buttonless DFU
    uuid 8EC90001-F315-4F60-9FB8-838830DAEA50 Nordic DFU Control Point
    uuid 8EC90002-F315-4F60-9FB8-838830DAEA50 Nordic DFU Packet
    uuid 8EC90003-F315-4F60-9FB8-838830DAEA50 Nordic Buttonless DFU
    uuid 8EC90004-F315-4F60-9FB8-838830DAEA50 Nordic Buttonless DFU With Bonds
    uuid 9B3C81D8-57B1-4A8A-B8DF-0E56F7CA51C2 Apple Media Remote Command
    uuid 9FBF120D-6301-42D9-8C58-25E699A21DBD Apple Notification Source
    uuid A3C87500-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Configuration
    uuid A3C87501-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Capabilities
    uuid A3C87502-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Active Slot
    uuid A3C87503-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Advertising Interval
    uuid A3C87504-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Radio Tx Power
    uuid A3C87505-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Advertised Tx Power
    uuid A3C87506-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Lock State
    uuid A3C87507-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Unlock
    uuid A3C87508-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Public ECDH Key
    uuid A3C87509-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone EID Identity Key
    uuid A3C8750A-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Slot Data
    uuid A3C8750B-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Factory Reset
    uuid A3C8750C-8ED3-4BDF-8A39-A01BEBEDE295 Eddystone Remain Connectable
    uuid C6B2F38C-23AB-46D8-A6AB-A3A870BBD5D7 Apple Media Entity Attribute
    uuid DA2E7828-FBCE-4E01-AE9E-261174997C48 MCUmgr SMP Characteristic
    uuid E95D0753-251D-470A-A062-FA1922DFA9A8 micro:bit Accelerometer
    uuid E95D127B-251D-470A-A062-FA1922DFA9A8 micro:bit IO Pin
    uuid E95D386C-251D-470A-A062-FA1922DFA9A8 micro:bit Magnetometer Period
    uuid E95D6100-251D-470A-A062-FA1922DFA9A8 micro:bit Temperature
    uuid E95D93AF-251D-470A-A062-FA1922DFA9A8 micro:bit Event
    uuid E95D93B0-251D-470A-A062-FA1922DFA9A8 micro:bit DFU Control
    uuid E95D9715-251D-470A-A062-FA1922DFA9A8 micro:bit Magnetometer Bearing
    uuid E95D9882-251D-470A-A062-FA1922DFA9A8 micro:bit Button
    uuid E95DCA4B-251D-470A-A062-FA1922DFA9A8 micro:bit Accelerometer Data
    uuid E95DD91D-251D-470A-A062-FA1922DFA9A8 micro:bit LED
    uuid E95DF2D8-251D-470A-A062-FA1922DFA9A8 micro:bit Magnetometer
    uuid E95DFB11-251D-470A-A062-FA1922DFA9A8 micro:bit Magnetometer Data
    uuid E95DFB24-251D-470A-A062-FA1922DFA9A8 micro:bit Accelerometer Period
    uuid EF680100-9B35-4933-9B10-52FFA9740042 Thingy Configuration
    uuid EF680101-9B35-4933-9B10-52FFA9740042 Thingy Device Name
    uuid EF680102-9B35-4933-9B10-52FFA9740042 Thingy Advertising Parameters
    uuid EF680104-9B35-4933-9B10-52FFA9740042 Thingy Connection Parameters
    uuid EF680105-9B35-4933-9B10-52FFA9740042 Thingy Eddystone URL
    uuid EF680106-9B35-4933-9B10-52FFA9740042 Thingy Cloud Token
    uuid EF680107-9B35-4933-9B10-52FFA9740042 Thingy Firmware Version
    uuid EF680108-9B35-4933-9B10-52FFA9740042 Thingy MTU Request
    uuid EF680200-9B35-4933-9B10-52FFA9740042 Thingy Weather Station
    uuid EF680201-9B35-4933-9B10-52FFA9740042 Thingy Temperature
    uuid EF680202-9B35-4933-9B10-52FFA9740042 Thingy Pressure
    uuid EF680203-9B35-4933-9B10-52FFA9740042 Thingy Humidity
    uuid EF680204-9B35-4933-9B10-52FFA9740042 Thingy Air Quality
    uuid EF680205-9B35-4933-9B10-52FFA9740042 Thingy Colour
    uuid EF680206-9B35-4933-9B10-52FFA9740042 Thingy Weather Station Configuration
    uuid EF680300-9B35-4933-9B10-52FFA9740042 Thingy User Interface
    uuid EF680301-9B35-4933-9B10-52FFA9740042 Thingy LED State
    uuid EF680302-9B35-4933-9B10-52FFA9740042 Thingy Button State
    uuid EF680303-9B35-4933-9B10-52FFA9740042 Thingy External Pin
    uuid EF680400-9B35-4933-9B10-52FFA9740042 Thingy Motion
    uuid EF680401-9B35-4933-9B10-52FFA9740042 Thingy Motion Configuration
    uuid EF680402-9B35-4933-9B10-52FFA9740042 Thingy Tap
    uuid EF680403-9B35-4933-9B10-52FFA9740042 Thingy Orientation
    uuid EF680404-9B35-4933-9B10-52FFA9740042 Thingy Quaternion
    uuid EF680405-9B35-4933-9B10-52FFA9740042 Thingy Pedometer
    uuid EF680406-9B35-4933-9B10-52FFA9740042 Thingy Raw Motion Data
    uuid EF680407-9B35-4933-9B10-52FFA9740042 Thingy Euler Angles
    uuid EF680408-9B35-4933-9B10-52FFA9740042 Thingy Rotation Matrix
    uuid EF680409-9B35-4933-9B10-52FFA9740042 Thingy Heading
    uuid EF68040A-9B35-4933-9B10-52FFA9740042 Thingy Gravity Vector
    uuid EF680500-9B35-4933-9B10-52FFA9740042 Thingy Sound
    uuid EF680501-9B35-4933-9B10-52FFA9740042 Thingy Sound Configuration
    uuid EF680502-9B35-4933-9B10-52FFA9740042 Thingy Speaker Data
    uuid EF680503-9B35-4933-9B10-52FFA9740042 Thingy Speaker Status
    uuid EF680504-9B35-4933-9B10-52FFA9740042 Thingy Microphone
    uuid FCB2 Detecting Unwanted Location Trackers
    uuid FCF1 Google
    uuid FD0D Blecon Advertising
    uuid FD5A SmartTag
    uuid FD6F Exposure Notification
    uuid FE0F Signify (Philips Hue)
    uuid FE2C Fast Pair
    uuid FE59 Secure DFU
    uuid FE95 Xiaomi
    uuid FE9F Google
    uuid FEAA Eddystone
    uuid FEBB File Transfer (Adafruit)
    uuid FEED Tile
    uuid FEF3 Google
    uuid FFF6 Matter
    """)
}
