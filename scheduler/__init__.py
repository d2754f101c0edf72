"""
The domain and the machine of XCE Web.

Import rule, one way: ``core`` <- ``protocol`` <- ``models`` <- ``selectors``, ``services`` <- ``tasks``, ``management``
<- ``xceweb``. ``agent`` imports only ``protocol`` and ``core.states``. A test holds the arrows.
"""

VERSION = "0.1.0"
