using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>The state of a host in one small file, which is replaced as a whole. Not for two at the same time.</summary>
internal sealed class HostRunFile(string folder) : IHostRunStore
{
    private readonly string _path = Path.Combine(folder, "run.json");

    public HostRun Read()
    {
        try
        {
            return File.Exists(_path)
                ? JsonSerializer.Deserialize<HostRun>(File.ReadAllBytes(_path), JsonSerializerOptions.Web) ?? new HostRun()
                : new HostRun();
        }
        catch (Exception ex) when (ex is JsonException || StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotReached(ex);
        }
    }

    public void Write(HostRun run)
    {
        try
        {
            OwnerFolder.Make(folder);
            var unfinished = $"{_path}.part";
            OwnerFile.Write(unfinished, JsonSerializer.SerializeToUtf8Bytes(run, JsonSerializerOptions.Web));
            File.Move(unfinished, _path, overwrite: true);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
    }
}
