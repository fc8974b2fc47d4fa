namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>How an endpoint says that it stands.</summary>
/// <param name="State">Its state, as the management API names it.</param>
/// <param name="Reason">Why, where it does not run.</param>
/// <param name="Stuck">Attempts that ignore their time-out and still run.</param>
internal sealed record EndpointLook(string State, string? Reason, int Stuck)
{
    public static readonly EndpointLook Running = new("running", null, 0);

    public bool IsRunning => State == Running.State;
}
