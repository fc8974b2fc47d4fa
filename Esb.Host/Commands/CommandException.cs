namespace Esb.Host.Commands;

/// <summary>The failure of a command, with its reason.</summary>
/// <param name="exitCode">One of <see cref="ExitCode"/>.</param>
/// <param name="code">Stable code: <c>ESB-CLI-…</c>, or the code that a host returned.</param>
/// <param name="message">A sentence for the user, without secrets.</param>
internal sealed class CommandException(int exitCode, string code, string message) : Exception(message)
{
    public int ExitCode => exitCode;

    public string Code => code;
}
