using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Runs work on a connection from its opening until the work ends, and then on the next connection, until stopped.</summary>
internal static class BrokerLoop
{
    /// <param name="connection">The connection, which reconnects by itself.</param>
    /// <param name="work">Ends without an exception when it can do no more; resets the backoff after success.</param>
    /// <param name="time">The clock for the waits in between.</param>
    /// <param name="stopping">Ends the loop.</param>
    public static async Task RunAsync(
        BrokerConnection connection,
        Func<IConnection, Backoff, CancellationToken, Task> work,
        TimeProvider time,
        CancellationToken stopping
    )
    {
        var backoff = new Backoff(time);
        try
        {
            while (true)
            {
                await RunAsync(work, await connection.WaitAsync(stopping), backoff, stopping);
                await backoff.WaitAsync(stopping);
            }
        }
        catch (Exception) when (stopping.IsCancellationRequested)
        {
            // Stopped; a connection that is lost at that moment does not matter.
        }
    }

    private static async Task RunAsync(
        Func<IConnection, Backoff, CancellationToken, Task> work,
        IConnection connection,
        Backoff backoff,
        CancellationToken stopping
    )
    {
        try
        {
            await work(connection, backoff, stopping);
        }
        catch (Exception) when (!stopping.IsCancellationRequested)
        {
            // The work has reported the failures that it expects; after any other failure the next round starts over.
        }
    }
}
