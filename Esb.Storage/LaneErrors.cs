using Esb.Core.Errors;

namespace Esb.Storage;

/// <summary>What those are told who have lost a lane.</summary>
internal static class LaneErrors
{
    public static EsbException Lost(string endpoint, int lane) =>
        new("ESB-LANE-LOST", $"Somebody else works on lane {lane} of the endpoint '{endpoint}' now.", FaultKind.Internal);
}
