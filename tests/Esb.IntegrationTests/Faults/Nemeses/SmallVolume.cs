using System.Diagnostics;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>A small file system in memory, mounted over a folder, that can be filled to the last byte. Only root can mount it.</summary>
internal sealed class SmallVolume : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(200);

    private readonly string _folder;

    private SmallVolume(string folder) => _folder = folder;

    private string Ballast => Path.Combine(_folder, "ballast");

    /// <summary>Mounts one; ignores the test, in words, where that is not allowed.</summary>
    public static async Task<SmallVolume> MountAsync(string folder, int megabytes)
    {
        Directory.CreateDirectory(folder);
        if (Environment.UserName != "root" || !await RunAsync("mount", "-t", "tmpfs", "-o", $"size={megabytes}m,mode=755", "tmpfs", folder))
            Assert.Ignore("Only root can mount a small volume: what happens on a full one is not proven by this run.");
        return new SmallVolume(folder);
    }

    /// <summary>Takes all space, and what becomes free meanwhile, until the token is cancelled; then gives it back.</summary>
    public async Task KeepFullAsync(CancellationToken until)
    {
        await using (var ballast = new FileStream(Ballast, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0))
        {
            while (!until.IsCancellationRequested)
            {
                foreach (var piece in new[] { 1024 * 1024, 4096 })
                    Fill(ballast, new byte[piece]);
                await Task.Delay(Interval, until).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }

        File.Delete(Ballast);
    }

    /// <summary>Takes all space, and keeps it until the result is disposed.</summary>
    public async Task<IAsyncDisposable> FillAsync()
    {
        var filling = new Filling(this);
        while (new DriveInfo(_folder).AvailableFreeSpace > 0)
            await Task.Delay(Interval);
        return filling;
    }

    public async ValueTask DisposeAsync() => Assert.That(await RunAsync("umount", _folder), _folder);

    private static void Fill(FileStream ballast, byte[] piece)
    {
        try
        {
            while (true)
                ballast.Write(piece);
        }
        catch (IOException)
        {
            // no place for a piece of this size any more
        }
    }

    private static async Task<bool> RunAsync(string program, params string[] arguments)
    {
        using var process = Process.Start(program, arguments);
        await process.WaitForExitAsync();
        return process.ExitCode == 0;
    }

    private sealed class Filling : IAsyncDisposable
    {
        private readonly CancellationTokenSource _until = new();
        private readonly Task _work;

        public Filling(SmallVolume volume) => _work = volume.KeepFullAsync(_until.Token);

        public async ValueTask DisposeAsync()
        {
            await _until.CancelAsync();
            await _work;
            _until.Dispose();
        }
    }
}
