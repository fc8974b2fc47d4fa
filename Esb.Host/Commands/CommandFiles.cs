using Esb.Core.Storage;

namespace Esb.Host.Commands;

/// <summary>Files named on the command line.</summary>
internal static class CommandFiles
{
    /// <exception cref="CommandException"><c>ESB-CLI-FILE</c>.</exception>
    public static async Task<byte[]> ReadAsync(string file, CancellationToken cancellationToken)
    {
        try
        {
            return await File.ReadAllBytesAsync(file, cancellationToken);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            var reason = ex is FileNotFoundException or DirectoryNotFoundException ? "there is no such file" : ex.Message.TrimEnd('.');
            throw new CommandException(ExitCode.Usage, "ESB-CLI-FILE", $"The file {file} cannot be read: {reason}.");
        }
    }

    /// <exception cref="CommandException"><c>ESB-CLI-FILE</c>.</exception>
    public static async Task WriteAsync(string file, byte[] bytes, CancellationToken cancellationToken)
    {
        try
        {
            await using var stream = OwnerFile.Open(file, FileMode.Create, options: FileOptions.Asynchronous); // bodies of messages
            await stream.WriteAsync(bytes, cancellationToken);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new CommandException(ExitCode.Failed, "ESB-CLI-FILE", $"{file} cannot be written: {ex.Message}");
        }
    }

    /// <summary>The media type that the file name implies.</summary>
    public static string ContentTypeOf(string file) =>
        Path.GetExtension(file).ToLowerInvariant() switch
        {
            ".xml" => "application/xml",
            ".json" => "application/json",
            ".csv" => "text/csv",
            ".txt" => "text/plain",
            _ => "application/octet-stream",
        };
}
