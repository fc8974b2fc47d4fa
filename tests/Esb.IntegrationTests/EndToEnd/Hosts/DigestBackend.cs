using System.Collections.Concurrent;
using System.Security.Cryptography;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>An external system over HTTP that takes bodies of any size, and keeps their digests.</summary>
internal sealed class DigestBackend : IAsyncDisposable
{
    private readonly WebApplication _application;
    private int _resets;

    private DigestBackend(WebApplication application, Uri url) => (_application, Url) = (application, url);

    public Uri Url { get; }

    /// <summary>The bodies that came as a whole.</summary>
    public ConcurrentQueue<(long Length, string Digest, string? Key)> Taken { get; } = new();

    public static async Task<DigestBackend> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = new Uri($"http://127.0.0.1:{FreePorts.Next()}");
        builder.WebHost.UseUrls(url.OriginalString).ConfigureKestrel(server => server.Limits.MaxRequestBodySize = null);
        var backend = new DigestBackend(builder.Build(), url);
        backend._application.Run(backend.TakeAsync);
        await backend._application.StartAsync();
        return backend;
    }

    /// <summary>Resets the next connections in the middle of their bodies.</summary>
    public void ResetNext(int count) => Volatile.Write(ref _resets, count);

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private async Task TakeAsync(HttpContext context)
    {
        const int Middle = 8 << 20;
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        var (buffer, count) = (new byte[128 * 1024], 0L);
        try
        {
            while (await context.Request.Body.ReadAsync(buffer, context.RequestAborted) is > 0 and var read)
            {
                hash.AppendData(buffer.AsSpan(0, read));
                count += read;
                if (count >= Middle && Volatile.Read(ref _resets) > 0)
                {
                    Interlocked.Decrement(ref _resets);
                    context.Abort();
                    return;
                }
            }
        }
        catch (Exception ex) when (ex is IOException or OperationCanceledException)
        {
            return; // a body that is not whole counts for nothing
        }

        Taken.Enqueue((count, Convert.ToHexStringLower(hash.GetHashAndReset()), context.Request.Headers["Idempotency-Key"]));
        context.Response.StatusCode = 200;
    }
}
