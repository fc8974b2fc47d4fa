namespace Esb.Host.Commands.Audit;

/// <summary>Errors for archives that cannot be used.</summary>
internal static class ArchiveFiles
{
    /// <exception cref="CommandException"><c>ESB-CLI-FILE</c>: the file does not exist; <c>ESB-AUD-ARCHIVE</c>: the file is damaged or not
    /// an archive.</exception>
    public static async Task<T> TryAsync<T>(Func<Task<T>> work)
    {
        try
        {
            return await work();
        }
        catch (InvalidDataException ex)
        {
            throw new CommandException(ExitCode.VerificationFailed, "ESB-AUD-ARCHIVE", ex.Message);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new CommandException(ExitCode.Usage, "ESB-CLI-FILE", ex.Message);
        }
    }
}
