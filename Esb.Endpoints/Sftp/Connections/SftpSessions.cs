using System.Collections.Concurrent;
using Renci.SshNet;

namespace Esb.Endpoints.Sftp.Connections;

/// <summary>A pool of sessions with an SFTP server, each used by one caller at a time. Thread-safe.</summary>
/// <param name="connector">Opens sessions.</param>
/// <param name="size">The maximum number of sessions.</param>
internal sealed class SftpSessions(SftpConnector connector, int size) : IDisposable
{
    private readonly SemaphoreSlim _free = new(size);
    private readonly ConcurrentStack<SftpClient> _idle = new();

    /// <summary>Runs work on a session, once one is free. A session whose state is unknown afterwards is closed.</summary>
    /// <exception cref="Core.Errors.EndpointException">No session could be opened.</exception>
    public async Task<T> UseAsync<T>(Func<SftpClient, CancellationToken, Task<T>> work, CancellationToken cancellationToken)
    {
        using var session = await RentAsync(cancellationToken);
        try
        {
            var result = await work(session.Client, cancellationToken);
            session.IsSound = true;
            return result;
        }
        catch (Exception ex) when (SftpFailures.IsAnswer(ex))
        {
            session.IsSound = true;
            throw;
        }
    }

    /// <summary>Rents a session, once one is free; the caller disposes it.</summary>
    /// <exception cref="Core.Errors.EndpointException">No session could be opened.</exception>
    public async Task<SftpSession> RentAsync(CancellationToken cancellationToken)
    {
        await _free.WaitAsync(cancellationToken);
        try
        {
            return new SftpSession(await TakeAsync(cancellationToken), GiveBack);
        }
        catch
        {
            _free.Release();
            throw;
        }
    }

    public void Dispose()
    {
        while (_idle.TryPop(out var client))
            client.Dispose();
        _free.Dispose();
    }

    private void GiveBack(SftpClient client, bool isSound)
    {
        if (isSound && client.IsConnected)
            _idle.Push(client);
        else
            client.Dispose();
        _free.Release();
    }

    private async Task<SftpClient> TakeAsync(CancellationToken cancellationToken)
    {
        while (_idle.TryPop(out var client))
        {
            if (client.IsConnected)
                return client;
            client.Dispose(); // closed by the server meanwhile
        }

        return await connector.ConnectAsync(cancellationToken);
    }
}
