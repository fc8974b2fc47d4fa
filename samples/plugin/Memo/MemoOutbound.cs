using System.Text.Json;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Memo;

/// <summary>Settings of <c>memo-outbound</c>.</summary>
public sealed record MemoOutboundConfig : OutboundEndpointConfig
{
    [Setting("The file that lines are appended to; it and its folder are made where they are missing.", IsPath = true)]
    public required string File { get; init; }
}

/// <summary>The type <c>memo-outbound</c>. It is made where a configuration is compiled, and opens nothing.</summary>
public sealed class MemoOutboundType(LimitsConfig limits) : OutboundEndpointType<MemoOutboundConfig>
{
    protected override CreateOutbound? Compile(MemoOutboundConfig settings, ConfigErrors errors)
    {
        if (Directory.Exists(settings.File))
            errors.Add("ESB-CFG-VALUE", settings, "file", "is a folder: expected a file");
        return _ => new MemoAdapter(settings, limits.MaxBodySize.Bytes);
    }
}

/// <summary>What the instances of one endpoint share: the right to write to its file.</summary>
public sealed class MemoAdapter(MemoOutboundConfig settings, long maxBodyBytes) : IOutboundAdapter
{
    private readonly SemaphoreSlim _file = new(1);

    public IOutboundEndpoint CreateInstance() => new Instance(this);

    public ValueTask DisposeAsync()
    {
        _file.Dispose();
        return ValueTask.CompletedTask;
    }

    private async ValueTask SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var line = Write(message);
        await _file.WaitAsync(cancellationToken);
        try
        {
            Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(settings.File))!);
            Append(line);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            // An outage: the endpoint pauses and looks every now and then whether the file is there again.
            const string Text = "The memo cannot be written.";
            throw new EndpointException(settings.Name, "ESB-MEMO-FILE", Text, isTransient: true, ex) { IsOutage = true };
        }
        finally
        {
            _file.Release();
        }
    }

    // When this returns the line is on disk: the bus forgets the message then. What is written by half is taken back.
    private void Append(byte[] line)
    {
        using var file = new FileStream(settings.File, FileMode.Append, FileAccess.Write, FileShare.Read, bufferSize: 0);
        var end = file.Length;
        try
        {
            file.Write(line);
            file.Flush(flushToDisk: true);
        }
        catch (IOException)
        {
            file.SetLength(end);
            throw;
        }
    }

    private static byte[] Write(EsbMessage message)
    {
        var text = JsonSerializer.Serialize(
            new
            {
                id = message.Id, // a message may come twice, with the same id
                digest = message.Headers["x-digest"],
                body = message.Body.ReadText(),
            }
        );
        return [.. System.Text.Encoding.UTF8.GetBytes(text), (byte)'\n'];
    }

    private sealed class Instance(MemoAdapter adapter) : IOutboundEndpoint
    {
        public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
        {
            await adapter.SendAsync(message, cancellationToken);
            return null; // a file gives no answer
        }
    }
}
