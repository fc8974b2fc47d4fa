// The ESB beside a plain MassTransit application that does the same: take each message from a queue, and publish it, confirmed.
//
//   dotnet build Esb.Host -c Release
//   LOAD_RABBITMQ=amqp://guest:guest@127.0.0.1 dotnet run -c Release --project loadtests/masstransit [MESSAGES] [ROUNDS]
//
// Messages of 2 KB, persistent, wait in a durable classic queue before each run; the rate is that of what arrives behind it, from the 5th
// to the 95th hundredth. The ESB also records each message durably. Both sides run one after the other, in processes of their own.
using MassTransitLoad;

var rabbit = Environment.GetEnvironmentVariable("LOAD_RABBITMQ") ?? "amqp://guest:guest@127.0.0.1";
if (args is ["plain"])
{
    await PlainApplication.RunAsync(rabbit);
    return;
}

var messages = args.Length > 0 ? int.Parse(args[0]) : 20_000;
var rounds = args.Length > 1 ? int.Parse(args[1]) : 3;
await using var broker = await Broker.OpenAsync(rabbit);
using var host = EsbHost.Create(rabbit);
List<(string Side, double Rate)> results = [];
for (var round = 1; round <= rounds; round++)
{
    await MeasureAsync("plain MassTransit: consume and publish", PlainApplication.Source, PlainApplication.Target, PlainApplication.Start);
    await MeasureAsync("ESB in: masstransit-inbound to a topic", EsbHost.Inbound, EsbHost.Topic, host.Start);
    await MeasureAsync("ESB out: a topic to masstransit-outbound", EsbHost.Outbound, EsbHost.Event, host.Start);
}

var plain = Median(results[0].Side);
Console.WriteLine();
foreach (var side in results.Select(result => result.Side).Distinct())
    Console.WriteLine($"{side, -42} median {Median(side), 8:F0}/s   ratio {Median(side) / plain:F2}");
await broker.ForgetAsync();

double Median(string side) =>
    results.Where(result => result.Side == side).Select(result => result.Rate).Order().ElementAt((rounds - 1) / 2);

async Task MeasureAsync(string side, Way source, Way target, Func<IDisposable> start)
{
    using (start())
        await broker.WaitForAsync(source.Queue!); // makes what it needs
    await broker.FillAsync(source, messages);
    await using var counter = await broker.CountAsync(target, messages);
    using (start())
        await counter.Finished.WaitAsync(TimeSpan.FromMinutes(5));
    results.Add((side, counter.Rate));
    Console.WriteLine($"{side, -42} {counter.Rate, 8:F0}/s");
}
