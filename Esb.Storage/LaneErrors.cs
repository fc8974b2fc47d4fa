using Esb.Core.Errors;

namespace Esb.Storage;

/// <summary>Errors for hosts that have lost a lane.</summary>
internal static class LaneErrors
{
    public static EsbException Lost(string endpoint, int lane) =>
        new("ESB-LANE-LOST", $"Somebody else works on lane {lane} of the endpoint '{endpoint}' now.", FaultKind.Internal);
}
