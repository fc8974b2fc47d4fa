using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Works on a connection from the moment it is open until the work ends, and then on the next, for as long as it is wanted.</summary>
internal static class BrokerLoop
{
    /// <param name="connection">Reconnects by itself.</param>
    /// <param name="work">Ends when it can do no more, without an exception; resets the backoff once it has succeeded.</param>
    /// <param name="time">For the waits in between.</param>
    /// <param name="stopping">Ends the loop.</param>
    public static async Task RunAsync(BrokerConnection connection, Func<IConnection, Backoff, CancellationToken, Task> work, TimeProvider time, CancellationToken stopping)
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
            // Not wanted any more; a connection that is lost at that moment changes nothing.
        }
    }

    private static async Task RunAsync(Func<IConnection, Backoff, CancellationToken, Task> work, IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        try
        {
            await work(connection, backoff, stopping);
        }
        catch (Exception) when (!stopping.IsCancellationRequested)
        {
            // The work has told what it foresaw; whatever else it was, the next round begins anew.
        }
    }
}
