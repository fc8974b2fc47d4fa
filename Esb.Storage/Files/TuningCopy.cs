using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>The tuned settings in one small file, which is replaced as a whole. Thread-safe.</summary>
/// <param name="folder">The folder of the host.</param>
/// <param name="isNeeded">False if the store itself is in that folder.</param>
internal sealed class TuningCopy(string folder, bool isNeeded) : ITuningCopy
{
    private readonly Lock _lock = new();
    private readonly string _path = Path.Combine(folder, "tuning.json");

    public IReadOnlyList<TunedSetting> Read()
    {
        try
        {
            return isNeeded && File.Exists(_path)
                ? JsonSerializer.Deserialize<List<TunedSetting>>(File.ReadAllBytes(_path), JsonSerializerOptions.Web) ?? []
                : [];
        }
        catch (Exception ex) when (ex is JsonException || StoreErrors.IsWriteFailure(ex))
        {
            return []; // the store has them
        }
    }

    public void Write(IReadOnlyCollection<TunedSetting> settings)
    {
        if (!isNeeded)
            return;
        try
        {
            lock (_lock)
            {
                OwnerFolder.Make(folder);
                var unfinished = $"{_path}.part";
                OwnerFile.Write(unfinished, JsonSerializer.SerializeToUtf8Bytes(settings, JsonSerializerOptions.Web));
                File.Move(unfinished, _path, overwrite: true);
            }
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            return; // the store has them
        }
    }
}
