namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>How large the fault tests of workflows are: a tenth in <c>./test faults</c>, and as promised in
/// <c>./test workflows</c>.</summary>
internal static class WorkflowSize
{
    /// <summary>True in <c>./test workflows</c>, where goals are asserted.</summary>
    public static readonly bool IsFull = Environment.GetEnvironmentVariable("ESB_WORKFLOWS_SIZE") == "full";

    /// <summary>A number, or a tenth of it.</summary>
    public static int Of(int full) => IsFull ? full : full / 10;
}
