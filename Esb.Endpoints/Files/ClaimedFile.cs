using Esb.Delivery.Polling;

namespace Esb.Endpoints.Files;

/// <summary>A file claimed by this host alone, in a folder named after its message id.</summary>
/// <param name="MessageId">The message id; it stays with the file across crashes.</param>
/// <param name="Folder">The folder that holds the claim.</param>
/// <param name="Name">The file's own name.</param>
internal sealed record ClaimedFile(Guid MessageId, string Folder, string Name) : PolledItem(MessageId)
{
    private const string ArrivedEnding = ".arrived";
    private const string TriggerBeginning = ".ready-"; // file-inbound takes no hidden file, so no file that is read begins so

    public string Path => System.IO.Path.Combine(Folder, Name);

    /// <summary>The path of the trigger of a file, in the folder of its claim.</summary>
    /// <param name="folder">The folder of the claim.</param>
    /// <param name="trigger">The name of the trigger.</param>
    public static string TriggerIn(string folder, string trigger) => System.IO.Path.Combine(folder, TriggerBeginning + trigger);

    /// <summary>The trigger in the folder of a claim: its path, and its own name; null if there is none.</summary>
    public static (string Path, string Name)? FindTrigger(string folder) =>
        Directory.EnumerateFiles(folder, $"{TriggerBeginning}*").FirstOrDefault() is { } path
            ? (path, System.IO.Path.GetFileName(path)[TriggerBeginning.Length..])
            : null;

    /// <summary>Finds the claim in a folder that an earlier owner left; null if absent.</summary>
    public static ClaimedFile? Find(string folder)
    {
        var name = System.IO.Path.GetFileName(folder);
        var hasArrived = name.EndsWith(ArrivedEnding, StringComparison.Ordinal);
        var id = hasArrived ? name[..^ArrivedEnding.Length] : name;
        return
            Guid.TryParseExact(id, "N", out var messageId)
            && Directory.EnumerateFileSystemEntries(folder).FirstOrDefault(entry => !IsTrigger(entry)) is { } file
            ? new ClaimedFile(messageId, folder, System.IO.Path.GetFileName(file)) { HasArrived = hasArrived }
            : null;
    }

    private static bool IsTrigger(string path) => System.IO.Path.GetFileName(path).StartsWith(TriggerBeginning, StringComparison.Ordinal);

    /// <summary>Records on disk that the message has arrived, so that it is not handed over again after a crash.</summary>
    public override ClaimedFile MarkArrived()
    {
        if (HasArrived)
            return this;
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
