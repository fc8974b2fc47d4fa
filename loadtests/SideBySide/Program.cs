using SideBySide;
using SideBySide.Bare;
using SideBySide.Steps;
using SideBySide.Topics;

return args switch
{
    ["bare", .. var rest] => await BareCommand.RunAsync(rest),
    ["inserts", .. var rest] => await InsertsCommand.RunAsync(rest),
    ["steps", .. var rest] => await StepsCommand.RunAsync(rest),
    _ => await CompareCommand.RunAsync(args),
};
