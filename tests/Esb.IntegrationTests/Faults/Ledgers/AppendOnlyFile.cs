using System.Text;
using System.Threading.Channels;

namespace Esb.IntegrationTests.Faults.Ledgers;

/// <summary>A file of lines that only grows: a line is on the disk when its call returns. Calls at the same time share one flush.
/// Thread-safe.</summary>
internal sealed class AppendOnlyFile : IAsyncDisposable
{
    private readonly Channel<Line> _waiting = Channel.CreateBounded<Line>(new BoundedChannelOptions(4_096) { SingleReader = true });
    private readonly FileStream _file;
    private readonly Task _writing;

    public AppendOnlyFile(string path)
    {
        _file = new FileStream(path, FileMode.CreateNew, FileAccess.Write, FileShare.Read, bufferSize: 64 * 1024);
        _writing = Task.Run(WriteAsync);
    }

    public async Task AppendAsync(string text)
    {
        var line = new Line(text, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        await _waiting.Writer.WriteAsync(line);
        await line.Written.Task;
    }

    public async ValueTask DisposeAsync()
    {
        _waiting.Writer.TryComplete();
        await _writing;
        await _file.DisposeAsync();
    }

    private async Task WriteAsync()
    {
        var group = new List<Line>();
        while (await _waiting.Reader.WaitToReadAsync())
        {
            group.Clear();
            while (_waiting.Reader.TryRead(out var line))
                group.Add(line);
            foreach (var line in group)
                _file.Write(Encoding.UTF8.GetBytes(line.Text + "\n"));
            _file.Flush(flushToDisk: true);
            foreach (var line in group)
                line.Written.SetResult();
        }
    }

    private sealed record Line(string Text, TaskCompletionSource Written);
}
