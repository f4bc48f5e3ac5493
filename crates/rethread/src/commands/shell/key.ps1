# Opens the picker of sessions and puts the command that resumes one into the command line.
if (Get-Module -ListAvailable -Name PSReadLine) {
    Set-PSReadLineKeyHandler -Chord '@KEY@' -BriefDescription 'RethreadPick' -ScriptBlock {
        $id = (rethread tui --inline --print=id | Out-String).Trim()
        $session = if ($id) { rethread resume $id --json | ConvertFrom-Json }
        if ($session.command) {
            # PowerShell quotes in another way than the shells that `rethread resume --print` writes for.
            $quote = { "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($args[0]) + "'" }
            $line = '& ' + (($session.command | ForEach-Object { & $quote $_ }) -join ' ')
            if ($session.directory) { $line = "Set-Location -LiteralPath $(& $quote $session.directory) && $line" }
            [Microsoft.PowerShell.PSConsoleReadLine]::RevertLine()
            [Microsoft.PowerShell.PSConsoleReadLine]::Insert($line)
        }
        [Microsoft.PowerShell.PSConsoleReadLine]::InvokePrompt()
    }
}
