namespace Esb.Host.Commands;

/// <summary>A command cannot do what it was asked to, and why.</summary>
/// <param name="exitCode">One of <see cref="ExitCode"/>.</param>
/// <param name="code">Stable: <c>ESB-CLI-…</c>, or the code that a host answered.</param>
/// <param name="message">A sentence for the person at the terminal, without secrets.</param>
internal sealed class CommandException(int exitCode, string code, string message) : Exception(message)
{
    public int ExitCode => exitCode;

    public string Code => code;
}
