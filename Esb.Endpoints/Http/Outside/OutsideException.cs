namespace Esb.Endpoints.Http.Outside;

/// <summary>The connection to the external system was lost or closed, as opposed to the caller's connection.</summary>
internal class OutsideException(string message, Exception? inner = null) : IOException(message, inner)
{
    public static OutsideException HungUp() => new("It hung up before its answer was complete.");
}
