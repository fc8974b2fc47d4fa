using System.Globalization;
using System.Text;
using Esb.Delivery.Polling;

namespace Esb.Endpoints.Files;

/// <summary>Puts files away that are done with: into <c>done</c>, or into <c>error</c> with a text beside them. Thread-safe.</summary>
internal sealed class FileArchive(FileInboundConfig config, TimeProvider time)
{
    private const string Reason = ".reason.txt";
    private const int MaxNameBytes = 255;

    /// <summary>Puts a file away, as its claim says; it keeps its name, or where that is taken gets the message's id into it.</summary>
    /// <exception cref="IOException">It could not be moved, and is where it was.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be moved, and is where it was.</exception>
    public void PutAway(ClaimedFile file)
    {
        if (Path.Exists(file.Path))
        {
            var path = Move(file, file.Refusal is null ? config.DoneFolder : config.ErrorFolder);
            if (file.Refusal is { } refusal) Explain(path, file, refusal);
        }

        FileClaims.Release(file);
    }

    private static string Move(ClaimedFile file, string folder)
    {
        Directory.CreateDirectory(folder);
        var own = $"{Clip(Path.GetFileNameWithoutExtension(file.Name))}.{file.MessageId:N}{Clip(Path.GetExtension(file.Name))}";
        foreach (var name in new[] { file.Name, own })
        {
            var path = Path.Combine(folder, name);
            if (FinalName.TryTake(file.Path, path)) return path;
        }

        throw new IOException($"'{own}' exists already.");
    }

    // Names may have 255 bytes, and a character up to three: together with the id they still fit.
    private static string Clip(string text) => text.Length <= 60 ? text : text[..60];

    private void Explain(string path, ClaimedFile file, PolledRefusal refusal)
    {
        var text = string.Create(CultureInfo.InvariantCulture, $"{refusal.Code}\n{refusal.Reason}\n{time.GetUtcNow():O}\nmessage {file.MessageId}\n");
        var unfinished = FinalName.Temporary(config.ErrorFolder);
        File.WriteAllText(unfinished, text);
        var name = Path.GetFileName(path);
        if (Encoding.UTF8.GetByteCount(name) + Reason.Length <= MaxNameBytes && FinalName.TryTake(unfinished, Path.Combine(config.ErrorFolder, name + Reason))) return;
        File.Move(unfinished, Path.Combine(config.ErrorFolder, $"{Clip(name)}.{file.MessageId:N}{Reason}"), overwrite: true);
    }
}
