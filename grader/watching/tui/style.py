"""How the full screen looks, as a style sheet of Textual's; not a file of its own, since copies hold Python only."""

STYLE = """
Screen { layout: vertical; }
#title { height: 1; background: $panel; padding: 0 1; }
#body { height: 1fr; layout: horizontal; }
#stages { width: 28; border: none; border-right: solid $primary-darken-2; }
#rows { width: 2fr; border: none; border-right: solid $primary-darken-2; }
#detail { width: 3fr; padding: 0 1; scrollbar-gutter: stable; }
#foot { height: 1; background: $panel; padding: 0 1; color: $text-muted; }
OptionList { background: $surface; padding: 0; height: 1fr; scrollbar-size-vertical: 1; }
OptionList:focus { border: none; }
OptionList > .option-list--option-highlighted { background: $primary 20%; color: $foreground; text-style: none; }
OptionList:focus > .option-list--option-highlighted { background: $primary 35%; color: $foreground; text-style: bold; }
#stages:focus, #rows:focus { border-right: solid $accent; }
.narrow #body { layout: vertical; }
.narrow #stages { display: none; }
.narrow #rows { width: 1fr; height: auto; max-height: 45%; border-right: none; border-bottom: solid $primary-darken-2; }
.narrow.done #rows { max-height: 65%; }
.narrow #rows:focus { border-right: none; border-bottom: solid $accent; }
.narrow #detail { width: 1fr; height: 1fr; }
.ascii #stages, .ascii #rows { border-right: ascii $primary; }
.ascii.narrow #rows { border-right: none; border-bottom: ascii $primary; }
ModalScreen { align: center middle; background: $background 60%; }
.window { width: 90%; max-width: 110; height: 90%; background: $surface; border: solid $primary; padding: 0 1; }
.wide .window { width: 98%; max-width: 210; }
.question { width: 70; height: auto; padding: 1 2; }
.ascii OptionList, .ascii #detail, .ascii #reading { scrollbar-size-vertical: 0; }
.ascii #detail { scrollbar-gutter: auto; }
.ascii .window, .ascii Input, .ascii Input:focus, .ascii #choices { border: ascii $primary; }
.ascii Toast { border-left: none; }
.window-title { height: auto; max-height: 3; }
.window-foot { height: 1; margin-top: 1; }
#reading { height: 1fr; }
"""
