namespace Esb.IntegrationTests;

/// <summary>Addresses of the servers that the tests use.</summary>
internal static class Servers
{
    public static string RabbitMq => Find("ESB_TEST_RABBITMQ");

    public static string Postgres => Find("ESB_TEST_POSTGRES");

    private static string Find(string variable) =>
        Environment.GetEnvironmentVariable(variable)
        ?? throw new AssertionException($"{variable} is not set: run ./test, or begin with eval \"$(tests/servers start)\".");
}
