using Esb.Delivery.Polling;

namespace Esb.Endpoints.Files;

/// <summary>A file claimed by this host alone, in a folder named after its message id.</summary>
/// <param name="MessageId">The message id; it stays with the file across crashes.</param>
/// <param name="Folder">The folder that holds the claim.</param>
/// <param name="Name">The file's own name.</param>
internal sealed record ClaimedFile(Guid MessageId, string Folder, string Name) : PolledItem(MessageId)
{
    private const string ArrivedEnding = ".arrived";

    public string Path => System.IO.Path.Combine(Folder, Name);

    /// <summary>Finds the claim in a folder that an earlier owner left; null if absent.</summary>
    public static ClaimedFile? Find(string folder)
    {
        var name = System.IO.Path.GetFileName(folder);
        var hasArrived = name.EndsWith(ArrivedEnding, StringComparison.Ordinal);
        var id = hasArrived ? name[..^ArrivedEnding.Length] : name;
        return Guid.TryParseExact(id, "N", out var messageId) && Directory.EnumerateFileSystemEntries(folder).FirstOrDefault() is { } file
            ? new ClaimedFile(messageId, folder, System.IO.Path.GetFileName(file)) { HasArrived = hasArrived }
            : null;
    }

    /// <summary>Records on disk that the message has arrived, so that it is not handed over again after a crash.</summary>
    public override ClaimedFile MarkArrived()
    {
        if (HasArrived) return this;
        var arrived = this with { HasArrived = true };
        try
        {
            Directory.Move(Folder, Folder + ArrivedEnding);
            return arrived with { Folder = Folder + ArrivedEnding };
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return arrived; // recorded in this process at least
        }
    }
}
