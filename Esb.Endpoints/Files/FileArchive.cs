using System.Globalization;
using System.Text;
using Esb.Delivery.Polling;

namespace Esb.Endpoints.Files;

/// <summary>Moves finished files into <c>done</c>, or into <c>error</c> with a text file beside them. Thread-safe.</summary>
internal sealed class FileArchive(FileInboundConfig config, TimeProvider time)
{
    private const string Reason = ".reason.txt";
    private const int MaxNameBytes = 255;

    /// <summary>Archives a file as its claim says. The file keeps its name; if that is taken, the message id is added to it.</summary>
    /// <exception cref="IOException">The file could not be moved and stays where it was.</exception>
    /// <exception cref="UnauthorizedAccessException">Access is denied; the file stays where it was.</exception>
    public void PutAway(ClaimedFile file)
    {
        if (Path.Exists(file.Path))
        {
            var path = Move(file, file.Refusal is null ? config.DoneFolder : config.ErrorFolder);
            if (file.Refusal is { } refusal)
                Explain(path, file, refusal);
        }

        FileClaims.Release(file, hasTrigger: config.Ready is not null);
    }

    private static string Move(ClaimedFile file, string folder)
    {
        Directory.CreateDirectory(folder);
        RefuseLink(folder);
        var own = $"{Clip(Path.GetFileNameWithoutExtension(file.Name))}.{file.MessageId:N}{Clip(Path.GetExtension(file.Name))}";
        foreach (var name in new[] { file.Name, own })
        {
            var path = Path.Combine(folder, name);
            if (FinalName.TryTake(file.Path, path))
                return path;
        }

        throw new IOException($"'{own}' exists already.");
    }

    /// <summary>Refuses a folder that is a link: it lies where senders may write, and would lead files of theirs anywhere.</summary>
    /// <exception cref="IOException">The folder is a link.</exception>
    public static void RefuseLink(string folder)
    {
        if (new DirectoryInfo(Path.TrimEndingDirectorySeparator(folder)).LinkTarget is not null)
            throw new IOException($"'{folder}' is a link: name the folder itself in doneFolder or errorFolder, or remove the link.");
    }

    // File names may have 255 bytes and a character up to three, so the clipped text still fits together with the id.
    private static string Clip(string text) => text.Length <= 60 ? text : text[..60];

    private void Explain(string path, ClaimedFile file, PolledRefusal refusal)
    {
        var text = string.Create(
            CultureInfo.InvariantCulture,
            $"{refusal.Code}\n{refusal.Reason}\n{time.GetUtcNow():O}\nmessage {file.MessageId}\n"
        );
        var unfinished = FinalName.Temporary(config.ErrorFolder);
        File.WriteAllText(unfinished, text);
        var name = Path.GetFileName(path);
        if (
            Encoding.UTF8.GetByteCount(name) + Reason.Length <= MaxNameBytes
            && FinalName.TryTake(unfinished, Path.Combine(config.ErrorFolder, name + Reason))
        )
            return;
        File.Move(unfinished, Path.Combine(config.ErrorFolder, $"{Clip(name)}.{file.MessageId:N}{Reason}"), overwrite: true);
    }
}
