# Opens the picker of sessions and puts the command that resumes one into the command line.
if (Get-Module -ListAvailable -Name PSReadLine) {
    Set-PSReadLineKeyHandler -Chord '@KEY@' -BriefDescription 'RethreadPick' -ScriptBlock {
        $picked = rethread tui --inline --print=powershell | Out-String
        if ($picked.Trim()) {
            [Microsoft.PowerShell.PSConsoleReadLine]::RevertLine()
            [Microsoft.PowerShell.PSConsoleReadLine]::Insert($picked.Trim())
        }
        [Microsoft.PowerShell.PSConsoleReadLine]::InvokePrompt()
    }
}
